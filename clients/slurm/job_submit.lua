--[[ SPDX-License-Identifier: GPL-2.0-or-later

The submit hook of Corehour for sites that cannot build plugins: the same contract as job_submit_corehour.so, in Lua. Lies
beside Slurm's slurm.conf as job_submit.lua, with `JobSubmitPlugins=lua`; needs lua-socket and lua-cjson. Reads
/etc/corehour/slurm.conf (or what COREHOUR_SLURM_CONF names), again when the file changes.

What it cannot do that the plugin can: https, a name in `url` (to look one up would stall slurmctld), and knowing how many GPUs
a whole node has (--exclusive).

slurmctld lets a job through when this script fails, so everything runs inside pcall and a failure refuses. ]]
local NO_VAL, INFINITE = 4294967294, 4294967295
local UNLIMITED = math.huge
local ANSWER_BYTES_MAX = 256 * 1024
local TEXT_BYTES_MAX, ITEM_BYTES_MAX, MARKED_MAX, SIBLINGS_MAX = 65536, 1024, 200000, 64
local COUNT_MAX, ARRAY_INDEX_MAX, GPUS_MAX, MODELS_MAX = 10000000, 4000000, 1000000, 8
local SUCCESS, ACCESS_DENIED, ACCOUNTING_POLICY, NO_ANSWER = 0, 2002, 2050, 7000
local M = {} -- what the tests try without slurmctld

-- ---- texts of Slurm ----

local function split(text, pattern)
  local list = {}
  for item in (text .. ','):gmatch(pattern) do list[#list + 1] = item end
  return list
end

local function integer(text)
  return text and #text <= 9 and text:match('^%d+$') and tonumber(text) or nil
end

local function count_of(text)
  local digits, unit = text:match('^(%d+)([kKmM]?)$')
  local times = ({ k = 1024, K = 1024, m = 1048576, M = 1048576 })[unit] or 1
  return integer(digits) and integer(digits) * times
end

local function model_add(gpus, model, count)
  if count == 0 then return true end
  if #model >= 64 then return false end
  for _, gpu in ipairs(gpus) do
    if gpu.model == model then
      gpu.count = gpu.count + count
      return gpu.count <= GPUS_MAX
    end
  end
  if #gpus == MODELS_MAX then return false end
  gpus[#gpus + 1] = { model = model, count = count }
  return count <= GPUS_MAX
end

-- One item such as "gres:gpu:a100:2": words in front are the kind, a count at the end is how many, between is the model.
local function item_add(gpus, item, times)
  item = item:gsub('%(.*$', ''):match('^%s*(.-)%s*$')
  if item == '' then return true end
  local words = {}
  for word in (item .. ':'):gmatch('([^:/=]*)[:/=]') do words[#words + 1] = word end
  local first = words[1] == 'gres' and 2 or 1
  if words[first] ~= 'gpu' then return true end -- a license, a shard, nothing
  first = first + 1
  local last, count = #words, 1
  if last >= first and words[last]:match('^%d') and last - first <= 1 then
    local given = count_of(words[last])
    if given then
      count, last = given, last - 1
    elseif last - first == 1 then
      return false
    end
  end
  if last > first or words[first] == '' and last >= first then return false end
  if count > GPUS_MAX or times > GPUS_MAX then return false end
  return model_add(gpus, last >= first and words[first] or '', count * times)
end

local function gpus_add(gpus, text, times)
  if text and #text > TEXT_BYTES_MAX then return false end
  for _, item in ipairs(split(text or '', '([^,;]*)[,;]')) do
    if #item > ITEM_BYTES_MAX or not item_add(gpus, item, times) then return false end
  end
  return true
end

local function total(gpus)
  local sum = 0
  for _, gpu in ipairs(gpus) do sum = sum + gpu.count end
  return sum
end

local function range_of(item)
  local first, last, step = item:match('^(%d+)%-(%d+):(%d+)$')
  if not first then first, last = item:match('^(%d+)%-(%d+)$') end
  if not first then first = item:match('^(%d+)$') last = first end
  first, last, step = integer(first), integer(last), integer(step or '1')
  if not first or not last or not step or step == 0 or first > last or last > ARRAY_INDEX_MAX then return nil end
  return first, last, step
end

local function range_count(first, last, step) return math.floor((last - first) / step) + 1 end

-- Marks each index once.
local function list_mark(list)
  local seen, tasks = {}, 0
  for _, item in ipairs(list) do
    local first, last, step = range_of(item)
    for i = first, last, step do
      if not seen[i] then seen[i] = true tasks = tasks + 1 end
    end
  end
  return tasks
end

-- A list in ascending order is added up; one that is not may name an index twice.
local function list_count(list)
  local tasks, highest, ascends = 0, -1, true
  for _, item in ipairs(list) do
    local first, last, step = range_of(item)
    if not first then return nil end
    ascends = ascends and first > highest
    highest, tasks = last, tasks + range_count(first, last, step)
  end
  if ascends then return tasks end
  return tasks <= MARKED_MAX and list_mark(list) or nil
end

-- "0-15:4,20%2" -> 5, 2; nil when it cannot be read. An index named twice counts once.
local function array_count(text)
  if not text or text == '' then return 1, 0 end
  if #text > TEXT_BYTES_MAX then return nil end
  local list, limit = text:match('^([^%%]*)%%?(.*)$')
  local running = 0
  if text:find('%%') then running = integer(limit) end
  if not running then return nil end
  list = list:match('^%[(.*)%]$') or list
  if not list:find(',') then
    local first, last, step = range_of(list)
    if not first then return nil end
    return range_count(first, last, step), running
  end
  local tasks = list_count(split(list, '([^,]*),'))
  return tasks, tasks and running
end

-- ---- what a job will occupy: as request.c ----

local function given(value, otherwise)
  if not value or value <= 0 then return otherwise end
  return math.min(value, COUNT_MAX)
end

local function keep(form, gpus)
  local more = total(form) - total(gpus)
  if more > 0 or more == 0 and form[1] and form[1].model ~= '' then return form end
  return gpus
end

local function minutes_in(request, partition)
  if request.minutes == UNLIMITED then return partition.max_minutes end
  return request.minutes or partition.default_minutes or partition.max_minutes
end

local function nodes_in(request, partition)
  local least = given(request.nodes_min, 1)
  local tasks, per_node = given(request.tasks, 0), given(request.tasks_per_node, 0)
  if tasks > 0 and per_node > 0 then least = math.max(least, math.ceil(tasks / per_node)) end
  local most = given(request.nodes_max, least)
  if partition.nodes and partition.nodes > 0 then most = math.min(most, partition.nodes) end
  return math.max(least, math.min(most, partition.nodes_max or UNLIMITED))
end

local function gpus_of(request, nodes)
  local tasks = given(request.tasks, nodes * given(request.tasks_per_node, 1))
  local forms = {
    { request.tres_per_job, 1 },
    { request.tres_per_node, nodes },
    { request.tres_per_socket, nodes * given(request.sockets_per_node, 1) },
    { request.tres_per_task, tasks },
  }
  local gpus = {}
  for i = 1, 4 do
    local form = {}
    if not gpus_add(form, forms[i][1], forms[i][2]) then return nil end
    gpus = keep(form, gpus)
  end
  return gpus
end

local function per_gpu(text)
  local gpus = {}
  return text and gpus_add(gpus, text, 1) and total(gpus) or 0
end

local function cores_of(request, shape)
  local gpus = total(shape.gpus)
  local tasks = given(request.tasks, math.max(shape.nodes * given(request.tasks_per_node, 1), 1))
  if given(request.tasks, 0) == 0 then tasks = math.max(tasks, gpus * given(request.tasks_per_gpu, 0)) end
  local cores = math.max(given(request.cpus_min, 1), shape.nodes)
  if not request.is_overcommitted then cores = math.max(cores, tasks * given(request.cpus_per_task, 1)) end
  cores = math.max(cores, shape.nodes * given(request.cpus_per_node_min, 0))
  return math.max(cores, gpus * per_gpu(request.cpus_per_tres))
end

local function default_memory(shape, per_cpu, per_node)
  if per_cpu and per_cpu > 0 then return shape.cores * per_cpu end
  return shape.nodes * given(per_node, 0)
end

local function memory_of(request, site, partition, shape)
  local gpu_mib = per_gpu(request.memory_per_tres)
  if gpu_mib > 0 then return total(shape.gpus) * gpu_mib end
  if request.memory_per_node_mib == 0 then return shape.nodes * (partition.node_memory_mib or 0) end
  if request.memory_per_node_mib or given(request.memory_per_cpu_mib) then
    return default_memory(shape, request.memory_per_cpu_mib, request.memory_per_node_mib)
  end
  if given(partition.memory_per_cpu_mib) or given(partition.memory_per_node_mib) then
    return default_memory(shape, partition.memory_per_cpu_mib, partition.memory_per_node_mib)
  end
  return default_memory(shape, site.memory_per_cpu_mib, site.memory_per_node_mib)
end

local function take_whole_nodes(shape, partition)
  local all = {}
  for i, gpu in ipairs(partition.node_gpus or {}) do all[i] = { model = gpu.model, count = gpu.count * shape.nodes } end
  shape.gpus = keep(all, shape.gpus)
  shape.cores = math.max(shape.cores, shape.nodes * (partition.node_cores or 0))
end

local function shape_in(request, site, partition)
  local shape = { nodes = nodes_in(request, partition) }
  shape.gpus = gpus_of(request, shape.nodes)
  if not shape.gpus then return nil end
  shape.cores = cores_of(request, shape)
  if request.is_exclusive or partition.is_exclusive then take_whole_nodes(shape, partition) end
  shape.memory_mib = memory_of(request, site, partition, shape)
  local minutes = minutes_in(request, partition)
  shape.seconds = (not minutes or minutes == UNLIMITED) and 0 or minutes * 60
  return shape
end

local function larger(shape, other)
  if not shape then return other end
  for _, key in ipairs { 'nodes', 'cores', 'memory_mib' } do shape[key] = math.max(shape[key], other[key]) end
  shape.gpus = keep(other.gpus, shape.gpus)
  shape.seconds = (shape.seconds == 0 or other.seconds == 0) and 0 or math.max(shape.seconds, other.seconds)
  return shape
end

local function is_asked_for(request, partition)
  if not request.partition or request.partition == '' then return partition.is_default end
  return (',' .. request.partition .. ','):find(',' .. partition.name .. ',', 1, true) ~= nil
end

-- The shape of a request, or nil and what cannot be read.
function M.shape_of(request, site)
  local shape
  for _, partition in ipairs(site.partitions) do
    if is_asked_for(request, partition) then
      local other = shape_in(request, site, partition)
      if not other then return nil, 'gres' end
      shape = larger(shape, other)
    end
  end
  shape = shape or shape_in(request, site, {})
  if not shape then return nil, 'gres' end
  shape.tasks, shape.max_running = array_count(request.array)
  if not shape.tasks then return nil, 'array' end
  return shape
end

-- ---- what a user reads: as explain.c ----

local WORDS = {
  en = { limit = 'limit', used = 'used', frozen = 'frozen', available = 'available', requested = 'requested', missing = 'missing',
    mcs = 'core-hours', mcores = 'cores', mgpus = 'GPUs', jobs = 'jobs', resets = 'resets', held = 'held by', since = 'since',
    stale = 'not heard of lately', ahead = 'waiting ahead', earliest = 'it would fit at the earliest at', ask = 'ask',
    unlimited = 'unlimited', organization = 'organization', project = 'project', member = 'member',
    closed = 'the quota service gave no answer (%s): nothing is submitted without one; please try again later',
    open = 'the quota service gave no answer (%s): the job goes ahead and is charged later',
    waits = 'the job waits for quota (%s core-hours) and starts by itself when there is room' },
  zh = { limit = '上限', used = '已用', frozen = '冻结', available = '可用', requested = '申请', missing = '缺少',
    mcs = '核时', mcores = '核', mgpus = 'GPU', jobs = '作业', resets = '重置于', held = '占用者', since = '自',
    stale = '近期无消息', ahead = '在前面等待', earliest = '最早可满足于', ask = '请联系',
    unlimited = '不限', organization = '组织', project = '项目', member = '成员',
    closed = '配额服务没有应答（%s）：暂不接受提交，请稍后再试',
    open = '配额服务没有应答（%s）：作业放行，稍后计费',
    waits = '作业排队等待%s核时的配额；有余额时自动开始' },
}
local FIGURES = { 'limit', 'used', 'frozen', 'available', 'requested', 'missing' }

local function text_of(object, key)
  local value = type(object) == 'table' and object[key]
  return type(value) == 'string' and value or ''
end

local function fixed(value, divisor, decimals)
  local scale = 10 ^ decimals
  local scaled = math.floor((math.abs(value) * scale + divisor / 2) / divisor)
  local sign = value < 0 and '-' or ''
  return string.format('%s%.0f.%0' .. decimals .. '.0f', sign, math.floor(scaled / scale), scaled % scale)
end

local function duration(value)
  local text, rest = value < 0 and '-' or '', math.abs(value)
  for _, unit in ipairs { { 'd', 86400 }, { 'h', 3600 }, { 'm', 60 }, { 's', 1 } } do
    local count = math.floor(rest / unit[2])
    rest = rest % unit[2]
    if count > 0 then text = string.format('%s%.0f%s', text, count, unit[1]) end
  end
  return value == 0 and '0s' or text
end

local FORMATS = {
  mcs = function(v) return fixed(v, 3600000, 2) end,
  mcores = function(v) return fixed(v, 1000, 3) end,
  mgpus = function(v) return fixed(v, 1000, 3) end,
  s = duration,
  jobs = function(v) return string.format('%.0f', v) end,
}

local function violation_lines(lines, violation, words)
  local unit = text_of(violation, 'unit')
  local user, node, kind = text_of(violation, 'user'), text_of(violation, 'node'), text_of(violation, 'kind')
  local figures = {}
  for i, name in ipairs(FIGURES) do
    local value = type(violation) == 'table' and violation[name]
    local shown = type(value) == 'number' and (FORMATS[unit] or FORMATS.jobs)(value) or words.unlimited
    figures[i] = words[name] .. ' ' .. shown
  end
  local member = user ~= '' and user ~= node and '/' .. user or ''
  local resets = text_of(violation, 'resets_at')
  local word = unit ~= 's' and words[unit]
  lines[#lines + 1] = string.format('  %s %s%s, %s: %s%s%s', words[kind] or kind, node, member, text_of(violation, 'cap'),
    table.concat(figures, ', '), word and ' ' .. word or '', resets ~= '' and '; ' .. words.resets .. ' ' .. resets or '')
  if text_of(violation, 'cap'):match('^job_') or type(violation) ~= 'table' then return end
  for _, holder in ipairs(type(violation.holders) == 'table' and violation.holders or {}) do
    local who, hold, since = text_of(holder, 'user'), text_of(holder, 'hold'), text_of(holder, 'since')
    local amount = type(holder) == 'table' and tonumber(holder.frozen_mcs) or 0
    lines[#lines + 1] = string.format('    %s %s%s: %s %s%s%s%s', words.held, text_of(holder, 'project'),
      who ~= '' and '/' .. who or '', FORMATS.mcs(amount), words.mcs, hold ~= '' and ', ' .. hold or '',
      since ~= '' and ', ' .. words.since .. ' ' .. since or '', holder.stale == true and ', ' .. words.stale or '')
  end
end

local function quota_lines(lines, problem, words)
  local title, detail = text_of(problem, 'title'), text_of(problem, 'detail')
  local first = title == '' and text_of(problem, 'code') or title
  if title ~= '' and detail:sub(1, #title) == title then
    for _, pattern in ipairs { '): ', '）：' } do
      local at = detail:find(pattern, #title + 1, true)
      if at then
        first = detail:sub(1, at + (pattern == '): ' and 0 or #'）' - 1))
        break
      end
    end
  end
  lines[1] = first
  for _, violation in ipairs(type(problem.violations) == 'table' and problem.violations or {}) do
    if type(violation) ~= 'table' or violation.soft ~= true then violation_lines(lines, violation, words) end
  end
  local ahead = tonumber(problem.waiting_ahead) or 0
  if ahead > 0 then lines[#lines + 1] = string.format('  %d %s', ahead, words.ahead) end
  local earliest = text_of(problem, 'earliest_at')
  if earliest ~= '' then lines[#lines + 1] = '  ' .. words.earliest .. ' ' .. earliest end
end

-- A problem as a list of lines.
function M.explain(problem, language)
  local lines, words = {}, WORDS[language]
  local code = text_of(problem, 'code')
  if code == '' then return lines end
  if code == 'quota_insufficient' then
    quota_lines(lines, problem, words)
  else
    local title, detail = text_of(problem, 'title'), text_of(problem, 'detail')
    lines[1] = title == '' and code or title
    if detail ~= '' and detail ~= title then lines[2] = '  ' .. detail end
  end
  local contact = text_of(problem, 'contact')
  if contact ~= '' then lines[#lines + 1] = '  ' .. words.ask .. ': ' .. contact end
  for i, line in ipairs(lines) do lines[i] = line:gsub('[%z\1-\31\127]', ' ') end
  return lines
end

-- ---- configuration ----

local DEFAULTS = {
  url = 'http://127.0.0.1:8480', token_file = '/etc/corehour/slurm.token', spool_dir = '/var/spool/corehour', mode = 'enforce',
  fail_policy = 'closed', deadline_ms = '500', breaker_s = '5', admin_uids = '', language = 'en',
}
local CHOICES = { mode = { enforce = true, observe = true }, fail_policy = { closed = true, open = true }, language = { en = true, zh = true } }
local RANGES = { deadline_ms = { 20, 5000 }, breaker_s = { 0, 300 } }

local function file_read(path)
  local file, why = io.open(path, 'r')
  if not file then return nil, why end
  local text = file:read(65536) or ''
  file:close()
  return text
end

-- The hook's keys of the file; what belongs to the agent is passed over. Errors are raised with the place.
function M.config_parse(text, path)
  local config, number = {}, 0
  for name, value in pairs(DEFAULTS) do config[name] = value end
  for line in (text .. '\n'):gmatch('([^\n]*)\n') do
    number = number + 1
    local name, value = line:match('^%s*([^=#%s][^=]-)%s*=%s*(.-)%s*$')
    if name then
      if CHOICES[name] and not CHOICES[name][value] then error(path .. ':' .. number .. ': ' .. name .. ': "' .. value .. '"', 0) end
      config[name] = value
    elseif not line:match('^%s*#') and not line:match('^%s*$') then
      error(path .. ':' .. number .. ': not "key = value"', 0)
    end
  end
  for name, range in pairs(RANGES) do
    config[name] = integer(config[name])
    if not config[name] or config[name] < range[1] or config[name] > range[2] then error(path .. ': ' .. name, 0) end
  end
  if not config.cluster or config.cluster == '' then error(path .. ': cluster: must be given', 0) end
  return config
end

local function admins_of(text)
  local ranges = {}
  for first, last in text:gmatch('(%d+)%-?(%d*)') do
    ranges[#ranges + 1] = { tonumber(first), tonumber(last ~= '' and last or first) }
  end
  return ranges
end

if not slurm then return M end

-- ---- inside slurmctld ----

local socket, cjson = require 'socket', require 'cjson'
local config, config_text, config_secret, config_why = nil, nil, nil, 'not read yet'
local connection, host, port, prefix, token
local shut_until, siblings, siblings_count = 0, {}, 0

local function now() return socket.gettime() end

local function secret_read(path)
  local secret, why = file_read(path)
  secret = secret and secret:match('^%s*([^%s]+)')
  if not secret then error('token_file ' .. path .. ': ' .. (why or 'holds no token'), 0) end
  return secret
end

local function config_make(text, path)
  local fresh = M.config_parse(text, path)
  local name, number, rest = fresh.url:match('^http://([^:/]+):?(%d*)(.-)/?$')
  local address = name == 'localhost' and '127.0.0.1' or name and name:match('^%d+%.%d+%.%d+%.%d+$')
  if not address then error(path .. ': url: this hook speaks http://ADDRESS:PORT only, with a numeric address', 0) end
  local secret = secret_read(fresh.token_file)
  fresh.admins = admins_of(fresh.admin_uids)
  host, port, prefix, token = address, tonumber(number) or 80, rest, secret
  if connection then connection:close() end
  connection, config, shut_until = nil, fresh, 0
  slurm.log_info('corehour: %s read: cluster %s, %s, mode %s, fail_policy %s, deadline %d ms', path, fresh.cluster, fresh.url,
    fresh.mode, fresh.fail_policy, fresh.deadline_ms)
end

local function config_load(path)
  local text, why = file_read(path)
  if not text then error(why, 0) end
  if text ~= config_text or secret_read(config.token_file) ~= config_secret then config_make(text, path) end
  config_text, config_secret = text, token
end

-- Looks at the files, which are small, each time; one that is wrong leaves the last one in force.
local function config_now()
  local path = os.getenv('COREHOUR_SLURM_CONF')
  if not path or path == '' then path = '/etc/corehour/slurm.conf' end
  local ok, why = pcall(config_load, path)
  if not ok then
    config_why = tostring(why)
    slurm.log_error('corehour: %s', config_why)
  end
  return config
end

-- ---- HTTP, with one deadline for all of it ----

local function left(ends) return math.max(ends - now(), 0) end

local function send_all(text, ends)
  local at = 1
  while at <= #text do
    connection:settimeout(0)
    local sent, why, partial = connection:send(text, at)
    at = (sent or partial or at - 1) + 1
    if not sent and why ~= 'timeout' then return nil, why end
    if not sent then
      if left(ends) <= 0 then return nil, 'timeout' end
      connection:settimeout(left(ends)) -- waits by poll; select knows no descriptor above 1023
      at = at + (connection:send(text, at, at) and 1 or 0)
    end
  end
  return true
end

-- The whole answer: status and body.
local function receive(ends)
  local data, length, body_at = '', nil, nil
  while true do
    if not body_at then
      local head_end = select(2, data:find('\r\n\r\n', 1, true))
      if head_end then
        body_at = head_end + 1
        length = tonumber(data:sub(1, head_end):lower():match('\r\ncontent%-length:%s*(%d+)')) or 0
        if length > ANSWER_BYTES_MAX then return nil, 'an answer that is too long', data end
      end
    end
    if body_at and #data - body_at + 1 >= length then break end
    if #data > ANSWER_BYTES_MAX + 16384 then return nil, 'an answer that is too long', data end
    if left(ends) <= 0 then return nil, 'timeout', data end
    connection:settimeout(left(ends))
    local first, why = connection:receive(1)
    if why == 'closed' then return nil, 'the connection ended', data end
    connection:settimeout(0)
    local piece, _, partial = connection:receive(8192)
    data = data .. (first or '') .. (piece or partial or '')
  end
  local status = tonumber(data:match('^HTTP/1%.[01] (%d%d%d)'))
  if not status then return nil, 'this is not HTTP', data end
  return status, data:sub(body_at, body_at + length - 1)
end

local function exchange_once(text, ends)
  if not connection then
    connection = socket.tcp()
    connection:settimeout(left(ends))
    local ok, why = connection:connect(host, port)
    if not ok then return nil, why end
    connection:setoption('tcp-nodelay', true)
  end
  local ok, why = send_all(text, ends)
  if not ok then return nil, why, '' end
  return receive(ends)
end

local function exchange(method, path, body, ends)
  local text = string.format('%s %s%s HTTP/1.1\r\nHost: %s:%d\r\nAuthorization: Bearer %s\r\nAccept-Language: %s\r\n', method, prefix,
    path, host, port, token, config.language)
  if body then
    local kind = path == '/v1/batch' and 'application/x-ndjson' or 'application/json'
    text = text .. string.format('Content-Type: %s\r\nContent-Length: %d\r\n', kind, #body)
  end
  text = text .. '\r\n' .. (body or '')
  for _ = 1, 2 do
    local kept = connection ~= nil
    local status, answer, seen = exchange_once(text, ends)
    if status then return status, answer end
    if connection then connection:close() end
    connection = nil
    -- A kept connection may have ended meanwhile: once more over a new one.
    if not kept or seen ~= '' or left(ends) <= 0 or answer == 'timeout' then return nil, answer end
  end
end

-- What the daemon decided: status and body; or nil and why there is no decision.
local function ask(method, path, body, ends)
  local began = now()
  if began < shut_until then
    return nil, string.format('it gave none a moment ago and is asked again in %d s', math.ceil(shut_until - began))
  end
  local status, text = exchange(method, path, body, ends)
  if not status then
    if (now() - began) * 2000 >= config.deadline_ms then shut_until = now() + config.breaker_s end
    return nil, tostring(text)
  end
  local ok, answer = pcall(cjson.decode, text)
  if not ok or type(answer) ~= 'table' then return nil, 'it answered ' .. status .. ' and no JSON' end
  local code = text_of(answer, 'code')
  if status >= 200 and status < 300 or code ~= '' and (status == 409 or status == 422 or code == 'unknown_hold') then
    return status, answer
  end
  return nil, 'it answered ' .. status .. ' ' .. code
end

-- ---- submissions ----

local function say(lines)
  for _, line in ipairs(lines) do slurm.log_user('%s', line) end
end

local function uuid7()
  local file = io.open('/dev/urandom', 'rb')
  local random = { file:read(10):byte(1, 10) }
  file:close()
  local ms = math.floor(now() * 1000)
  local b = {}
  for i = 6, 1, -1 do b[i] = ms % 256 ms = math.floor(ms / 256) end
  for i = 1, 10 do b[6 + i] = random[i] end
  b[7] = b[7] % 16 + 112
  b[9] = b[9] % 64 + 128
  return string.format('%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x', unpack(b))
end

local function is_utf8(text)
  text = text:gsub('[\194-\223][\128-\191]', ''):gsub('[\224-\239][\128-\191][\128-\191]', '')
  text = text:gsub('[\240-\244][\128-\191][\128-\191][\128-\191]', '')
  return not text:find('[\128-\255]')
end

local function name_of(text)
  if not text or text == '' or text:find('[%z\1-\31\127]') then return nil end
  local cut = text:sub(1, 128)
  if #text > 128 then
    local byte = text:byte(129)
    while byte >= 128 and byte < 192 and #cut > 0 do
      byte = cut:byte(#cut)
      cut = cut:sub(1, -2)
    end
  end
  return is_utf8(cut) and cut or nil
end

local function set(value)
  value = tonumber(value)
  if not value or value == NO_VAL or value == 65534 or value == 65535 or value > 1e15 then return nil end
  return value == INFINITE and UNLIMITED or value
end

local function memory_set(value)
  value = tonumber(value)
  return value and value < 1e15 and value or nil
end

local function site_of(parts)
  local site = { partitions = {} }
  for name, part in pairs(parts) do
    local nodes = set(part.total_nodes) or 0
    site.partitions[#site.partitions + 1] = {
      name = name, is_default = part.flag_default == 1, is_exclusive = part.max_share == 0,
      default_minutes = set(part.default_time), max_minutes = set(part.max_time) or UNLIMITED, nodes = nodes,
      nodes_max = set(part.max_nodes), node_cores = nodes > 0 and math.ceil((set(part.total_cpus) or 0) / nodes) or 0,
      memory_per_cpu_mib = memory_set(part.def_mem_per_cpu), memory_per_node_mib = memory_set(part.def_mem_per_node),
    }
  end
  return site
end

local function request_of(job)
  return {
    partition = job.partition, array = job.array_inx, tres_per_job = job.tres_per_job, tres_per_node = job.tres_per_node,
    tres_per_socket = job.tres_per_socket, tres_per_task = job.tres_per_task, cpus_per_tres = job.cpus_per_tres,
    memory_per_tres = job.mem_per_tres, tasks = set(job.num_tasks), tasks_per_node = set(job.ntasks_per_node),
    tasks_per_gpu = set(job.ntasks_per_tres), cpus_per_task = set(job.cpus_per_task), cpus_min = set(job.min_cpus),
    cpus_per_node_min = set(job.pn_min_cpus), nodes_min = set(job.min_nodes), nodes_max = set(job.max_nodes),
    sockets_per_node = set(job.sockets_per_node), memory_per_cpu_mib = memory_set(job.min_mem_per_cpu),
    memory_per_node_mib = memory_set(job.min_mem_per_node), minutes = set(job.time_limit), is_exclusive = job.shared == 0,
  }
end

local function partition_of(request, site)
  if request.partition and request.partition ~= '' then return request.partition end
  for _, partition in ipairs(site.partitions) do
    if partition.is_default then return partition.name end
  end
end

local function body_of(job, request, site, shape)
  local gpus = {}
  for i, gpu in ipairs(shape.gpus) do gpus[i] = { model = gpu.model ~= '' and gpu.model or nil, count = gpu.count } end
  local details = { name = name_of(job.name), partition = name_of(partition_of(request, site)), qos = name_of(job.qos) }
  return {
    id = config.cluster:sub(1, 27) .. '-' .. uuid7(), cluster = config.cluster, account = job.account or job.default_account,
    user = job.user_name or tostring(job.user_id), job = next(details) and details or nil,
    resources = { cores = shape.cores, memory_mib = shape.memory_mib > 0 and shape.memory_mib or nil, gpus = gpus[1] and gpus or nil },
    tasks = shape.tasks, max_running = shape.max_running > 0 and shape.max_running or nil,
    time_limit_s = shape.seconds > 0 and shape.seconds or nil,
  }
end

-- Names in a line of the log are the user's: nothing in them may begin a line of its own.
local function note(body, what)
  local line = string.format('user %s account %s hold %s: %s', tostring(body.user), tostring(body.account or '-'), body.id, what)
  slurm.log_info('corehour: %s', (line:gsub('[%z\1-\31\127]', ' ')))
end

local function spool(body)
  local path = config.spool_dir .. '/' .. body.id .. '.json'
  body.at = os.date('!%Y-%m-%dT%H:%M:%SZ')
  local file, why = io.open(path .. '.part', 'w')
  local ok = file and file:write(cjson.encode(body), '\n')
  if file then ok = file:close() and ok end
  if ok then ok, why = os.rename(path .. '.part', path) end
  if file and not ok then os.remove(path .. '.part') end
  return ok and ', spooled' or ', NOT spooled: ' .. tostring(why)
end

-- What the fail policy says.
local function unasked(job, body, why)
  if config.mode == 'observe' then
    note(body, 'observe: no answer (' .. why .. ')')
    job.admin_comment = 'corehour:observe'
    return SUCCESS
  end
  if config.fail_policy == 'open' then
    note(body, 'no answer (' .. why .. '), let through' .. spool(body))
    job.admin_comment = 'corehour:open:' .. body.id
    say { WORDS[config.language].open:format(why) }
    return SUCCESS
  end
  note(body, 'no answer (' .. why .. '), refused')
  say { WORDS[config.language].closed:format(why) }
  return NO_ANSWER
end

local function warnings_of(answer)
  local lines = {}
  for _, warning in ipairs(type(answer.warnings) == 'table' and answer.warnings or {}) do
    local detail = text_of(warning, 'detail')
    lines[#lines + 1] = detail ~= '' and detail or text_of(warning, 'code')
  end
  return lines
end

local function enforce(job, body, status, answer)
  local about = answer.id == body.id
  if status == 201 and about and answer.state == 'frozen' then
    note(body, 'frozen')
    job.admin_comment = 'corehour:' .. body.id
    say(warnings_of(answer))
    return SUCCESS
  elseif status == 202 and about and answer.state == 'waiting' then
    note(body, 'waits')
    job.admin_comment = 'corehour:' .. body.id
    job.priority = 0
    say { WORDS[config.language].waits:format(FORMATS.mcs(tonumber(answer.waiting_mcs) or 0)) }
    say(warnings_of(answer))
    return SUCCESS
  elseif status >= 400 then
    note(body, 'refused: ' .. text_of(answer, 'detail'):sub(1, 200))
    say(M.explain(answer, config.language))
    return ACCOUNTING_POLICY
  end
  return unasked(job, body, 'its answer is not about this job')
end

local function observe(job, body, status, answer)
  local would = status == 201 and 'would be frozen' or status == 202 and 'would wait' or 'would be refused: '
  note(body, 'observe: ' .. would .. (status >= 400 and text_of(answer, 'detail'):sub(1, 200) or ''))
  job.admin_comment = 'corehour:observe'
  return SUCCESS
end

-- Components of a heterogeneous job come back to back: what was frozen for those before a refused one is given back.
local function siblings_follow(job, code, hold, ends)
  local offset = job.het_job_offset
  if not set(offset) then return end
  local key = table.concat({ job.user_id, tostring(job.alloc_node), tostring(job.work_dir) }, '|')
  if siblings_count >= SIBLINGS_MAX then siblings, siblings_count = { [key] = siblings[key] }, 1 end
  if not siblings[key] then siblings_count = siblings_count + 1 end
  if offset == 0 or not siblings[key] then siblings[key] = {} end
  local holds = siblings[key]
  if code == SUCCESS then
    holds[#holds + 1] = hold
    return
  end
  siblings[key], siblings_count = nil, siblings_count - 1
  local lines = {}
  for _, id in ipairs(holds) do
    lines[#lines + 1] = cjson.encode { op = 'release', hold = id, cluster = config.cluster, reason = 'sibling refused' } .. '\n'
  end
  if #lines > 0 then ask('POST', '/v1/batch', table.concat(lines), ends) end
end

local function lost(why)
  slurm.log_error('corehour: a submission is refused: %s', why)
  slurm.log_user('the quota hook cannot work (%s); please tell the administrators', why)
  return NO_ANSWER
end

local function submit(job, parts)
  local began = now()
  if not config_now() then return lost(config_why) end
  local ends = began + config.deadline_ms / 1000
  local request, site = request_of(job), site_of(parts)
  local shape, what = M.shape_of(request, site)
  if not shape then
    slurm.log_user('what the job asks for cannot be worked out: its %s', what)
    return ACCOUNTING_POLICY
  end
  local body = body_of(job, request, site, shape)
  local path = config.mode == 'observe' and '/v1/holds?dry_run=true' or '/v1/holds'
  local status, answer = ask('POST', path, cjson.encode(body), ends)
  local code
  if not status then
    code = unasked(job, body, answer)
  elseif config.mode == 'observe' then
    code = observe(job, body, status, answer)
  else
    code = enforce(job, body, status, answer)
  end
  siblings_follow(job, code, body.id, ends)
  return code
end

-- ---- changes of jobs ----

local SIZES = { 'min_nodes', 'max_nodes', 'num_tasks', 'cpus_per_task', 'ntasks_per_node', 'pn_min_cpus', 'shared' }
local SIZE_TEXTS = { 'tres_per_job', 'tres_per_node', 'tres_per_socket', 'tres_per_task', 'cpus_per_tres', 'mem_per_tres' }

local function changes_size(job)
  for _, name in ipairs(SIZES) do
    if set(job[name]) then return true end
  end
  for _, name in ipairs(SIZE_TEXTS) do
    if job[name] then return true end
  end
  return memory_set(job.min_mem_per_node) ~= nil or memory_set(job.min_mem_per_cpu) ~= nil
end

local function change_of(job)
  local change = {
    is_release = job.priority ~= nil and job.priority ~= NO_VAL and job.priority ~= 0, is_size = changes_size(job),
    minutes = set(job.time_limit), cores = set(job.max_cpus) or set(job.min_cpus), account = job.account, partition = job.partition,
    qos = job.qos, max_running = job.array_inx and (tonumber(job.array_inx:match('%d+')) or 0) or nil,
  }
  change.needs_freeze = change.minutes ~= nil or change.cores ~= nil or change.account ~= nil or change.partition ~= nil or
    change.qos ~= nil
  return change
end

local function ruled(id, what, code)
  slurm.log_info('corehour: change of job %s: %s', tostring(id), (what:gsub('[%z\1-\31\127]', ' ')))
  return code
end

local function policy(id, why)
  local open = config.fail_policy == 'open'
  return ruled(id, 'no answer (' .. why .. '), ' .. (open and 'let through' or 'refused'), open and SUCCESS or NO_ANSWER)
end

local function resize(id, change, hold, ends)
  local body = { cluster = config.cluster, time_limit_s = change.minutes and change.minutes * 60, account = change.account }
  if change.cores and type(hold.resources) == 'table' then
    body.resources = { cores = change.cores, memory_mib = hold.resources.memory_mib }
    if type(hold.resources.gpus) == 'table' and hold.resources.gpus[1] then body.resources.gpus = hold.resources.gpus end
  end
  if change.partition or change.qos then
    body.job = type(hold.job) == 'table' and hold.job or {}
    body.job.partition = change.partition or body.job.partition
    body.job.qos = change.qos or body.job.qos
  end
  local status, answer = ask('POST', '/v1/holds/' .. hold.id .. '/resize', cjson.encode(body), ends)
  if not status then return policy(id, answer) end
  if status < 300 then return ruled(id, 'frozen for', SUCCESS) end
  return ruled(id, 'refused: ' .. text_of(answer, 'detail'):sub(1, 200), ACCOUNTING_POLICY)
end

local function ruled_by_hold(id, change, hold, ends)
  local state = text_of(hold, 'state')
  local runs = state == 'running' or state == 'suspended'
  local known = type(hold.max_running) == 'number' and hold.max_running or nil
  if change.is_release and state == 'waiting' then
    return ruled(id, 'refused: it waits for quota', ACCESS_DENIED)
  elseif change.max_running and known and (change.max_running == 0 or change.max_running > known) then
    return ruled(id, 'refused: more tasks at once than were counted', ACCOUNTING_POLICY)
  elseif change.is_size and not runs then
    return ruled(id, 'refused: another size is another submission', ACCOUNTING_POLICY)
  elseif not change.needs_freeze then
    return ruled(id, 'passes', SUCCESS)
  elseif change.is_element then
    return ruled(id, 'refused: change the whole array', ACCOUNTING_POLICY)
  elseif change.minutes == UNLIMITED then
    return ruled(id, 'refused: a time without limit cannot be frozen', ACCOUNTING_POLICY)
  end
  return resize(id, change, hold, ends)
end

local function slurm_user()
  local text = file_read('/proc/self/status') or ''
  return tonumber(text:match('\nUid:%s*(%d+)'))
end
local SLURM_USER = slurm_user()

local function is_admin(uid)
  if uid == 0 or uid == SLURM_USER then return true end
  for _, range in ipairs(config and config.admins or {}) do
    if uid >= range[1] and uid <= range[2] then return true end
  end
  return false
end

-- A job that waits for quota and that the agent has not told of carries its hold all the same.
local function ruled_unbound_release(id, record, ends)
  local hold = tostring(record.admin_comment):match('^corehour:([%w._-]+)$')
  if not hold or hold == 'observe' then return nil end
  local status, answer = ask('GET', '/v1/holds/' .. hold .. '?cluster=' .. config.cluster, nil, ends)
  if not status then return policy(id, answer) end
  return text_of(answer, 'state') == 'waiting' and ruled(id, 'refused: it waits for quota', ACCESS_DENIED) or nil
end

local function modify(job, record, uid)
  local began = now()
  config_now()
  if is_admin(uid) then return SUCCESS end
  if not config then return NO_ANSWER end
  local change, id = change_of(job), record.job_id
  if config.mode == 'observe' or not (change.is_release or change.is_size or change.needs_freeze or change.max_running) then
    return SUCCESS
  end
  local array = set(record.array_job_id)
  if array and array > 0 then
    change.is_element = set(record.array_task_id) ~= nil
    id = array
  end
  local ends = began + config.deadline_ms / 1000
  local status, answer = ask('GET', string.format('/v1/holds?cluster=%s&job_id=%d', config.cluster, id), nil, ends)
  if not status then return policy(id, answer) end
  local hold = type(answer.items) == 'table' and answer.items[1]
  if type(hold) == 'table' then return ruled_by_hold(id, change, hold, ends) end
  local code = change.is_release and ruled_unbound_release(id, record, ends)
  if code then return code end
  if not change.needs_freeze and not change.is_size then return ruled(id, 'no hold is known', SUCCESS) end
  return policy(id, 'no hold is known for this job')
end

-- ---- what slurmctld calls ----

function slurm_job_submit(job, parts, uid)
  local ok, code = pcall(submit, job, parts)
  if ok and type(code) == 'number' then return code end
  slurm.log_error('corehour: %s', tostring(code))
  slurm.log_user('the quota hook has failed; please tell the administrators')
  return NO_ANSWER
end

function slurm_job_modify(job, record, parts, uid)
  local ok, code = pcall(modify, job, record, uid)
  if ok and type(code) == 'number' then return code end
  slurm.log_error('corehour: %s', tostring(code))
  return NO_ANSWER
end

return slurm.SUCCESS
