-- The pure parts of job_submit.lua, with the cases of the C side. usage: lua5.1 test_job_submit.lua TOP
local top = arg[1]
local cjson = require 'cjson'
local hook = dofile(top .. '/clients/slurm/job_submit.lua')
local run, failed = 0, 0

local function load(name)
  local file = assert(io.open(top .. '/tests/clients/slurm/' .. name))
  local text = file:read('*a')
  file:close()
  return cjson.decode(text)
end

local function check(ok, name, got)
  run = run + 1
  if ok then return end
  failed = failed + 1
  print('FAIL: ' .. name .. ': ' .. tostring(got))
end

local function plain(value)
  if value == cjson.null then return nil end
  return value == 'unlimited' and math.huge or value
end

local function gpus_text(list)
  local words = {}
  for i, gpu in ipairs(list) do words[i] = (gpu.model or gpu[1]) .. '=' .. (gpu.count or gpu[2]) end
  return table.concat(words, ' ')
end

local file = load('request_cases.json')
for _, partition in ipairs(file.site.partitions) do
  for key, value in pairs(partition) do partition[key] = plain(value) end
  partition.max_minutes = partition.max_minutes or math.huge
  local gpus = {}
  for i, pair in ipairs(partition.node_gpus or {}) do gpus[i] = { model = pair[1], count = pair[2] } end
  partition.node_gpus = gpus
end
for _, case in ipairs(file.cases) do
  local request = {}
  for key, value in pairs(case.request) do request[key] = plain(value) end
  local shape, what = hook.shape_of(request, file.site)
  if case.fault or not shape then
    check(what == case.fault, case.name, what)
  else
    for key, want in pairs(case.shape) do
      local got = key == 'gpus' and gpus_text(shape.gpus) or shape[key]
      check(got == (key == 'gpus' and gpus_text(want) or want), case.name .. ': ' .. key, got)
    end
  end
end

for _, case in ipairs(load('explain_cases.json')) do
  local lines = hook.explain(case.problem, case.zh == true and 'zh' or 'en')
  check(table.concat(lines, '\n') == table.concat(case.lines, '\n'), case.name, table.concat(lines, '\n'))
end

local function parse(text) return pcall(hook.config_parse, text, 'f') end
local ok, config = parse('# x\ncluster = a\n mode=observe \nsomething_of_the_agent = 5\n')
check(ok and config.cluster == 'a' and config.mode == 'observe' and config.deadline_ms == 500, 'configuration', config)
for text, says in pairs { ['x = 1'] = 'f: cluster: must be given', ['cluster = a\nmode = no'] = 'f:2: mode: "no"',
  ['cluster = a\nhello'] = 'f:2: not "key = value"', ['cluster = a\ndeadline_ms = 5'] = 'f: deadline_ms' } do
  local fine, why = parse(text)
  check(not fine and why == says, text, why)
end

print(run .. ' checked, ' .. failed .. ' failed')
os.exit(failed == 0 and run > 100 and 0 or 1)
