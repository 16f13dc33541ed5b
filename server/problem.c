/* Problem documents. The texts for people are made here and nowhere else. */
#include "server/problem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ledger/base/amount.h"
#include "server/decode_shapes.h"

enum {
    TEXT_BYTES = 256,
    FIGURE_BYTES = 32,
    DETAIL_BYTES = 1536,
    DETAIL_LIMITS = 8, /* limits told in the detail; the document has them all */
};

/* ---- units and names of limits */

const char *problem_unit(enum cap_kind kind)
{
    static const char *const units[CAP__COUNT] = {
        [CAP_MONTH] = "mcs",      [CAP_QUARTER] = "mcs",        [CAP_YEAR] = "mcs",
        [CAP_TOTAL] = "mcs",      [CAP_GPUS] = "mgpus",         [CAP_CORES] = "mcores",
        [CAP_JOBS] = "jobs",      [CAP_JOB_CORE_HOURS] = "mcs", [CAP_JOB_GPUS] = "mgpus",
        [CAP_JOB_DURATION] = "s", [CAP_FUNDS] = "mcs",
    };
    return units[kind];
}

const char *problem_cap_name(enum cap_kind kind, const char *model, char *ret_text, size_t bytes)
{
    const char *name = decode_choice_name(choices_cap, (int)kind);
    const bool has_model = model != NULL && model[0] != '\0';
    (void)snprintf(ret_text, bytes, "%s%s%s", name, has_model ? ":" : "", has_model ? model : "");
    return ret_text;
}

/* ---- titles */

/* By code; English is the registry's meaning. */
static const char *const chinese_titles[ERR__COUNT] = {
    [ERR_MALFORMED] = "请求不是合法的 HTTP 或 JSON",
    [ERR_UNAUTHENTICATED] = "没有令牌，或令牌无效、过期或已撤销",
    [ERR_NOT_ALLOWED] = "该令牌可以查看，但无权执行此操作",
    [ERR_NOT_FOUND] = "该令牌可见范围内没有这个名称",
    [ERR_UNKNOWN_HOLD] = "没有这个编号或作业的冻结记录",
    [ERR_METHOD_NOT_ALLOWED] = "该路径不支持此方法",
    [ERR_QUOTA_INSUFFICIENT] = "配额已不够预冻结",
    [ERR_RUN_CONFLICT] = "该次运行已按其他数据结算，请使用更正",
    [ERR_ID_REUSED] = "该编号已用于其他内容",
    [ERR_INVALID_STATE] = "当前状态不允许此操作",
    [ERR_NODE_CLOSED] = "该组织、项目或成员已关闭，不接受新的冻结",
    [ERR_NOT_FUNDED_HERE] = "拨款和划转只能用于自有资金的节点",
    [ERR_AMBIGUOUS_ID] = "多个根组织或集群都有这个编号，请用 root 或 cluster 指明",
    [ERR_PRECONDITION_FAILED] = "资源已被修改，请重新读取",
    [ERR_TOO_LARGE] = "请求体、请求头或网址超过上限",
    [ERR_INVALID_FIELD] = "字段缺失、未知、类型错误或超出范围",
    [ERR_UNKNOWN_ACCOUNT] = "该集群上没有项目对应此账户",
    [ERR_UNKNOWN_CLUSTER] = "没有这个集群",
    [ERR_NOT_A_MEMBER] = "该用户不是项目成员",
    [ERR_NO_RATE] = "费率表中没有适用于这些资源的行",
    [ERR_NO_TIME_LIMIT] = "完整模式需要时限，而请求中没有",
    [ERR_TIME_IN_FUTURE] = "作业时间比账本时钟超前 300 秒以上",
    [ERR_TOO_MANY_LEVELS] = "层级超过 8 层",
    [ERR_TOO_MANY_CAPS] = "一个节点最多 32 条上限",
    [ERR_TOO_MANY_GPUS] = "一次冻结最多 8 项 GPU",
    [ERR_TOO_MANY_DRAWS] = "一次冻结最多动用 16 笔拨款",
    [ERR_TOO_MANY_TASKS] = "一次冻结最多 100000 个任务",
    [ERR_TOO_MANY_LINES] = "一批最多 10000 行",
    [ERR_TOO_MANY_RUNS] = "一次心跳最多 5000 个运行",
    [ERR_ROLLED_BACK] = "该批中另一行被拒绝，全部未写入",
    [ERR_PRECONDITION_REQUIRED] = "修改需要 If-Match",
    [ERR_RATE_LIMITED] = "请求过于频繁",
    [ERR_INTERNAL] = "内部错误，请以请求编号查日志",
    [ERR_UNAVAILABLE] = "账本暂时无法提交，未写入任何内容",
    [ERR_OVERLOADED] = "队列或连接已满，未写入任何内容",
};

static const char *core_hours_2(int64_t mcs, char ret_text[AMOUNT_TEXT_BYTES])
{
    return amount_format_core_hours(amount_from_mcs(mcs), 2, ret_text);
}

/* Seconds as minutes with 2 decimals, half up: 300 -> "5.00". */
static const char *minutes_2(int64_t seconds, char ret_text[FIGURE_BYTES])
{
    const int64_t hundredths = (seconds % 60 * 100 + 30) / 60;
    const int64_t minutes = seconds / 60 + hundredths / 100;
    (void)snprintf(ret_text, FIGURE_BYTES, "%" PRId64 ".%02" PRId64, minutes, hundredths % 100);
    return ret_text;
}

/* A refused freeze has a rate; a refused transfer or withdrawal has only an amount, and says so in its detail. */
static bool is_freeze(const struct problem *problem)
{
    return problem->error->code == ERR_QUOTA_INSUFFICIENT && problem->refusal != NULL &&
           problem->refusal->requested_mcores > 0;
}

/* The line that people know (SPEC 6.3). */
static void quota_line(const struct problem *problem, char ret_text[TEXT_BYTES])
{
    const struct ledger_refusal *refusal = problem->refusal;
    char amount[AMOUNT_TEXT_BYTES];
    char minutes[FIGURE_BYTES];
    (void)core_hours_2(refusal->requested_mcs, amount);
    if (problem->is_chinese) {
        (void)snprintf(ret_text, TEXT_BYTES, "配额已不够预冻结，冻结时间%s min，折合%s核时",
                       minutes_2(refusal->requested_s, minutes), amount);
    } else {
        (void)snprintf(ret_text, TEXT_BYTES, "quota insufficient to pre-freeze %s core-hours",
                       amount);
    }
}

static const char *title(const struct problem *problem, char text[TEXT_BYTES])
{
    const enum error_code code = problem->error->code;
    if (is_freeze(problem)) {
        quota_line(problem, text);
        return text;
    }
    return problem->is_chinese && chinese_titles[code] != NULL ? chinese_titles[code]
                                                               : error_meaning(code);
}

/* ---- the detail of a quota refusal */

/* A figure of a limit as people read it: core-hours with 2 decimals, thousandths with 3, counts as they are. */
static const char *figure(enum cap_kind kind, int64_t value, char ret_text[AMOUNT_TEXT_BYTES])
{
    const char *unit = problem_unit(kind);
    if (value == RECORD_UNLIMITED || value == INT64_MAX) {
        (void)snprintf(ret_text, AMOUNT_TEXT_BYTES, "unlimited");
    } else if (strcmp(unit, "mcs") == 0) {
        (void)core_hours_2(value, ret_text);
    } else if (strcmp(unit, "mgpus") == 0 || strcmp(unit, "mcores") == 0) {
        const char *sign = value < 0 ? "-" : "";
        const int64_t magnitude = value < 0 ? -value : value;
        (void)snprintf(ret_text, AMOUNT_TEXT_BYTES, "%s%" PRId64 ".%03" PRId64, sign,
                       magnitude / 1000, magnitude % 1000);
    } else {
        (void)snprintf(ret_text, AMOUNT_TEXT_BYTES, "%" PRId64, value);
    }
    return ret_text;
}

/* The words around the figures of a limit. */
static const struct limit_words {
    const char *kinds[3]; /* by enum node_kind */
    const char *cap;      /* behind the name of a cap */
    const char *used;
    const char *frozen;
    const char *available;
    const char *missing;
    const char *separator;
} english =
    {
        .kinds = {"organization", "project", "member"},
        .cap = "cap ",
        .used = "used ",
        .frozen = "frozen ",
        .available = "available ",
        .missing = "missing ",
        .separator = ", ",
},
  chinese = {
      .kinds = {"组织", "项目", "成员"},
      .cap = "上限",
      .used = "已用",
      .frozen = "冻结",
      .available = "可用",
      .missing = "缺少",
      .separator = "，",
};

static void append_limit(const struct problem *problem,
                         const struct ledger_limit *limit,
                         struct buffer *text)
{
    const struct violation *violation = &limit->violation;
    const struct limit_words *words = problem->is_chinese ? &chinese : &english;
    const enum cap_kind kind = violation->kind;
    char cap[RECORD_NAME_BYTES + 16];
    char limited[AMOUNT_TEXT_BYTES];
    char used[AMOUNT_TEXT_BYTES];
    char frozen[AMOUNT_TEXT_BYTES];
    char available[AMOUNT_TEXT_BYTES];
    char missing[AMOUNT_TEXT_BYTES];
    (void)buffer_printf(
        text, "%s %s %s %s%s%s%s%s%s%s%s%s%s%s%s%s", words->kinds[violation->node_kind],
        violation->node, problem_cap_name(kind, limit->model, cap, sizeof(cap)),
        kind == CAP_FUNDS ? "" : words->cap, figure(kind, violation->limit, limited),
        words->separator, words->used, figure(kind, violation->used, used), words->separator,
        words->frozen, figure(kind, violation->frozen, frozen), words->separator, words->available,
        figure(kind, violation->available, available), words->separator, words->missing);
    (void)buffer_append_text(text, figure(kind, violation->missing, missing));
}

/* "(16.000 cores x 5.00 min x 4 tasks)" */
static void append_formula(const struct problem *problem, struct buffer *text)
{
    const struct ledger_refusal *refusal = problem->refusal;
    char minutes[FIGURE_BYTES];
    const bool zh = problem->is_chinese;
    (void)buffer_printf(text,
                        zh ? "（%" PRId64 ".%03" PRId64 "核 x %s min"
                           : " (%" PRId64 ".%03" PRId64 " cores x %s min",
                        refusal->requested_mcores / 1000, refusal->requested_mcores % 1000,
                        minutes_2(refusal->requested_s, minutes));
    if (refusal->requested_tasks > 1) {
        (void)buffer_printf(text, zh ? " x %" PRId64 "个任务" : " x %" PRId64 " tasks",
                            refusal->requested_tasks);
    }
    (void)buffer_append_text(text, zh ? "）" : ")");
}

static void quota_detail(const struct problem *problem, struct buffer *text)
{
    const struct ledger_refusal *refusal = problem->refusal;
    const bool zh = problem->is_chinese;
    char line[TEXT_BYTES];
    quota_line(problem, line);
    (void)buffer_append_text(text, line);
    append_formula(problem, text);
    for (int32_t i = 0; i < refusal->count && i < DETAIL_LIMITS; i++) {
        (void)buffer_append_text(text, i == 0 ? (zh ? "：" : ": ") : (zh ? "；" : "; "));
        append_limit(problem, &refusal->limits[i], text);
    }
    if (refusal->count > DETAIL_LIMITS) {
        (void)buffer_printf(text, zh ? "；另有%d项" : "; and %d more",
                            refusal->count - DETAIL_LIMITS);
    }
    if (refusal->waiting_ahead > 0) {
        (void)buffer_printf(text, zh ? "；前面有%" PRId64 "个在等待" : "; %" PRId64 " wait ahead",
                            refusal->waiting_ahead);
    }
    if (refusal->contact[0] != '\0') {
        (void)buffer_printf(text, zh ? "；请联系：%s" : "; ask: %s", refusal->contact);
    }
}

/* ---- the document */

/* A figure that may be unlimited. */
static void write_figure(struct json_out *out, const char *key, int64_t value)
{
    if (value == INT64_MAX) {
        json_out_null(out, key);
    } else {
        json_out_exact(out, key, value);
    }
}

static void write_figures(struct json_out *out,
                          const struct violation *violation,
                          const char *model)
{
    char cap[RECORD_NAME_BYTES + 16];
    json_out_text(out, "node", violation->node);
    json_out_text(out, "kind", decode_choice_name(choices_node_kind, (int)violation->node_kind));
    if (violation->node_kind == NODE_MEMBER) {
        json_out_text(out, "project", violation->project);
        json_out_text(out, "user", violation->node);
    }
    json_out_text(out, "cap", problem_cap_name(violation->kind, model, cap, sizeof(cap)));
    json_out_text(out, "unit", problem_unit(violation->kind));
    if (violation->limit == RECORD_UNLIMITED) {
        json_out_null(out, "limit");
    } else {
        write_figure(out, "limit", violation->limit);
    }
    write_figure(out, "used", violation->used);
    write_figure(out, "frozen", violation->frozen);
    write_figure(out, "requested", violation->requested);
    write_figure(out, "available", violation->available);
    write_figure(out, "missing", violation->missing);
    json_out_time(out, "resets_at", violation->resets_at_s);
    json_out_bool(out, "soft", violation->soft);
}

void problem_write_violation(struct json_out *out,
                             const char *key,
                             const struct violation *violation,
                             const char *model)
{
    json_out_object_open(out, key);
    write_figures(out, violation, model);
    json_out_object_close(out);
}

static void write_holder(struct json_out *out, const struct ledger_holder *holder)
{
    json_out_object_open(out, NULL);
    /* One of another project is shown as project and amount only (SPEC 6.3). */
    if (holder->user[0] != '\0') {
        json_out_text(out, "hold", holder->hold);
        json_out_text(out, "user", holder->user);
        json_out_time(out, "since", holder->since_s);
        json_out_time(out, "last_seen", holder->last_seen_s);
        json_out_bool(out, "stale", holder->stale);
    }
    json_out_text(out, "project", holder->project);
    json_out_amount(out, "frozen", holder->frozen_mcs);
    json_out_object_close(out);
}

static void write_limit(struct json_out *out, const struct ledger_limit *limit)
{
    json_out_object_open(out, NULL);
    write_figures(out, &limit->violation, limit->model);
    if (limit->holders_known) {
        json_out_array_open(out, "holders");
        for (int32_t i = 0; i < limit->holder_count; i++) {
            write_holder(out, &limit->holders[i]);
        }
        json_out_array_close(out);
    } else {
        json_out_null(out, "holders");
    }
    json_out_object_close(out);
}

void problem_write_violations(struct json_out *out,
                              const char *key,
                              const struct ledger_refusal *refusal)
{
    json_out_array_open(out, key);
    for (int32_t i = 0; refusal != NULL && i < refusal->count; i++) {
        write_limit(out, &refusal->limits[i]);
    }
    json_out_array_close(out);
}

static void write_refusal(struct json_out *out, const struct ledger_refusal *refusal)
{
    json_out_amount(out, "requested", refusal->requested_mcs);
    json_out_integer(out, "rate_mcores", refusal->requested_mcores);
    json_out_integer(out, "seconds", refusal->requested_s);
    json_out_integer(out, "tasks", refusal->requested_tasks);
    json_out_time(out, "earliest_at", refusal->earliest_at_s);
    json_out_integer(out, "waiting_ahead", refusal->waiting_ahead);
    problem_write_violations(out, "violations", refusal);
    if (refusal->contact[0] != '\0') {
        json_out_text(out, "contact", refusal->contact);
    }
}

/* "quota_insufficient" -> ".../quota-insufficient" */
static void write_type(struct json_out *out, enum error_code code)
{
    char type[TEXT_BYTES];
    const int prefix =
        snprintf(type, sizeof(type), "https://corehour.invalid/problems/%s", error_slug(code));
    for (int i = 0; i < prefix; i++) {
        type[i] = (char)(type[i] == '_' ? '-' : type[i]);
    }
    json_out_text(out, "type", type);
}

static void write_detail(struct json_out *out, const struct problem *problem)
{
    const struct error *error = problem->error;
    if (is_freeze(problem)) {
        struct buffer text;
        buffer_init(&text, DETAIL_BYTES);
        quota_detail(problem, &text);
        json_out_text(out, "detail", buffer_text(&text));
        buffer_fini(&text);
    } else if (error->field[0] != '\0') {
        json_out_printf(out, "detail", "%s: %s", error->field, error->detail);
    } else if (error->detail[0] != '\0') {
        json_out_text(out, "detail", error->detail);
    }
}

void problem_write(struct json_out *out, const struct problem *problem)
{
    const struct error *error = problem->error;
    char text[TEXT_BYTES];
    write_type(out, error->code);
    json_out_text(out, "code", error_slug(error->code));
    json_out_integer(out, "status", error_http_status(error->code));
    json_out_text(out, "title", title(problem, text));
    write_detail(out, problem);
    if (error->field[0] != '\0') {
        json_out_text(out, "field", error->field);
    }
    if (problem->line > 0) {
        json_out_integer(out, "line", problem->line);
    }
    if (problem->request_id != NULL) {
        json_out_printf(out, "instance", "urn:corehour:request:%s", problem->request_id);
    }
    if (error->code == ERR_QUOTA_INSUFFICIENT && problem->refusal != NULL) {
        write_refusal(out, problem->refusal);
    }
}

/* ---- languages */

/* The q of one item, "zh-CN;q=0.8", in thousandths; 1000 when not given, 0 when not readable. */
static int quality_of(const char *item, size_t bytes)
{
    const char *q = memmem(item, bytes, "q=", 2);
    if (q == NULL) {
        return 1000;
    }
    int quality = 0;
    int weight = 1000;
    for (const char *at = q + 2; at < item + bytes && weight > 0; at++) {
        if (*at >= '0' && *at <= '9') {
            quality += (*at - '0') * weight;
            weight /= 10;
        } else if (*at != '.') {
            break;
        }
    }
    return quality > 1000 ? 1000 : quality;
}

bool problem_prefers_chinese(const char *accept_language)
{
    int chinese_quality = 0;
    int other_quality = 0;
    for (const char *at = accept_language; at != NULL && *at != '\0';) {
        at += strspn(at, " \t,");
        const size_t bytes = strcspn(at, ",");
        const int quality = quality_of(at, bytes);
        if (bytes >= 2 && strncasecmp(at, "zh", 2) == 0) {
            chinese_quality = quality > chinese_quality ? quality : chinese_quality;
        } else if (bytes >= 2 && strncasecmp(at, "en", 2) == 0) {
            other_quality = quality > other_quality ? quality : other_quality;
        }
        at += bytes;
    }
    return chinese_quality > other_quality;
}
