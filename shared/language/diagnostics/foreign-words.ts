/** Words that mean one thing, in the languages that engineers come from: SQL and Flink SQL, EPL, KQL, SPL, Sigma, JavaScript, Python. */
interface ForeignWords {
  readonly words: readonly string[];
  /** What to write instead. */
  readonly hint: string;
}

/** Words behind a dot in a stream. None of them is an operator of the language. */
export const foreignOperators: readonly ForeignWords[] = [
  { words: ['group_by', 'groupby', 'keyby', 'key_by', 'keyed_by', 'partition', 'partitionby', 'by'], hint: 'write `.partition_by(key)`' },
  {
    words: ['sort', 'sort_by', 'sortby', 'orderby', 'order', 'sorted', 'arrange'],
    hint: 'write `.order_by(x)` behind `.window(..)`: a stream has no end, so only what a window holds can be put in order',
  },
  {
    words: ['count', 'sum', 'avg', 'mean', 'average', 'min', 'max', 'median', 'stddev', 'percentile', 'rate', 'count_distinct'],
    hint: 'write `.window(5m).aggregate(n: count())`: aggregates stand in `.aggregate`, each with a name',
  },
  {
    words: ['stats', 'summarize', 'summarise', 'agg', 'aggregates', 'reduce', 'fold', 'scan', 'timechart', 'eventstats', 'streamstats'],
    hint: 'write `.window(5m).aggregate(n: count())`',
  },
  {
    words: ['join', 'inner_join', 'innerjoin', 'left_join', 'leftjoin', 'right_join', 'full_join', 'outer_join', 'cogroup'],
    hint: 'a join is a source: `stream Both = join(A, B).on(A.key == B.key).window(5m)`',
  },
  {
    words: ['union', 'union_all', 'unionall', 'concat', 'merge', 'append', 'combine', 'zip'],
    hint: 'a union is a source: `stream All = merge(A, B)`',
  },
  {
    words: ['project', 'fields', 'pluck', 'pick', 'return', 'keep', 'drop', 'remove', 'project_away', 'rename', 'alias'],
    hint: 'write `.select(a, b, new_name: old)` with the fields that stay',
  },
  {
    words: ['extend', 'eval', 'with_column', 'withcolumn', 'with_columns', 'assign', 'mutate', 'add', 'set', 'add_field', 'let', 'compute'],
    hint: 'write `.select(a, b, sum: a + b)`, or give the value its name in `.emit(..)`',
  },
  {
    words: ['flatmap', 'explode', 'unnest', 'mv_expand', 'mvexpand', 'expand', 'split_rows', 'mapcat'],
    hint: 'write `.process(f(..))` with a function that emits once per item',
  },
  {
    words: ['foreach', 'for_each', 'peek', 'inspect', 'debug', 'trace', 'do', 'subscribe', 'on_next'],
    hint: 'write `.print(x)`, `.log(message: ..)` or `.tap(..)`',
  },
  {
    words: ['take', 'head', 'fetch', 'top', 'limit_by', 'first_n'],
    hint: 'write `.limit(n)`: the first n of each window, or of each partition',
  },
  { words: ['skip', 'offset', 'tail', 'drop_first'], hint: 'there is none; behind a window `.last()` gives its last event' },
  {
    words: [
      'tumbling',
      'tumble',
      'timewindow',
      'time_window',
      'time_batch',
      'win',
      'window_by',
      'bin',
      'bucket',
      'every',
      'resample',
      'buffer',
      'batch',
    ],
    hint: 'write `.window(5m)`',
  },
  { words: ['hop', 'hopping', 'slide', 'sliding', 'rolling', 'sliding_window'], hint: 'write `.window(5m, sliding: 1m)`' },
  { words: ['session', 'session_window', 'sessionize', 'transaction'], hint: 'write `.window(session: 5m)`' },
  { words: ['length', 'length_batch', 'count_window'], hint: 'write `.window(100)` for a window of 100 events' },
  {
    words: ['unique', 'uniq', 'drop_duplicates', 'distinct_by', 'distinctby', 'dedup'],
    hint: 'write `.distinct(x)`, or `.dedupe(x, within: 5m)` for alerts',
  },
  {
    words: ['debounce', 'rate_limit', 'ratelimit', 'sample', 'suppress', 'mute', 'cooldown', 'silence'],
    hint: 'write `.throttle(1, per: 5m)`, or `.dedupe(key, within: 5m)`',
  },
  {
    words: ['followed_by', 'followedby', 'then', 'next', 'begin', 'followed_by_any', 'match_recognize', 'sequence', 'detect', 'chain'],
    hint: 'a pattern is a source: `stream S = A as a -> B where id == a.id as b .within(5m)`',
  },
  {
    words: ['not_followed_by', 'notfollowedby', 'not_next', 'notnext', 'without', 'absence', 'unless', 'missing', 'timeout'],
    hint: 'write it as a pattern: `A as a -> NOT B where id == a.id within 5m`',
  },
  {
    words: ['one_or_more', 'oneormore', 'times', 'repeated', 'optional', 'at_least'],
    hint: 'write a quantifier behind the type: `B+`, `B*`, `B?`, `B{3,}`',
  },
  {
    words: ['output', 'yield', 'insert', 'insert_into', 'into', 'produce', 'result'],
    hint: 'write `.emit(a, b)`; `.emit as T (..)` names the type',
  },
  {
    words: ['sink', 'send', 'publish', 'write', 'write_to', 'sink_to', 'add_sink', 'post', 'save', 'store'],
    hint: 'declare a connector and write `.to(Connector, topic: "..")`',
  },
  {
    words: ['notify', 'webhook', 'email', 'slack', 'page', 'pagerduty', 'alarm', 'trigger'],
    hint: 'write `.alert(url: "..", message: "..")`',
  },
  {
    words: ['lag', 'lead', 'shift', 'previous', 'prior', 'pairwise', 'diff', 'delta'],
    hint: 'write a pattern of two events: `X as a -> X as b`, and read `a.f` and `b.f`',
  },
  { words: ['lookup', 'lookup_join', 'enrich_with', 'map_async', 'async_map'], hint: 'write `.enrich(Connector, key: x, fields: [..])`' },
  {
    words: ['assign_timestamps', 'with_timestamp', 'event_time', 'with_watermark', 'allow_lateness', 'watermarks'],
    hint: 'write `.watermark(on: field, out_of_order: 5s)`',
  },
  { words: ['where_not', 'reject', 'exclude', 'filter_not', 'filterfalse'], hint: 'write `.where(not (..))`' },
  {
    words: ['catch', 'on_failure', 'onerror', 'recover', 'dead_letter'],
    hint: 'write `.on_error(skip)`, `.on_error(null)` or `.on_error(dlq)`',
  },
  { words: ['parallelism', 'set_parallelism', 'parallel', 'workers', 'num_workers'], hint: 'write `.concurrent(workers: 4)`' },
  {
    words: ['case', 'when', 'if', 'switch', 'branch', 'route'],
    hint: 'in an expression write `if a then b else c`; several continuations are `.fork(name: .where(..))`',
  },
];

/** Names of functions and aggregates. None of them is one of the language. */
export const foreignFunctions: readonly ForeignWords[] = [
  {
    words: ['length', 'size', 'strlen', 'char_length', 'character_length', 'array_length', 'cardinality', 'num_elements', 'mvcount'],
    hint: 'write `len(x)`',
  },
  { words: ['str', 'string', 'tostring', 'as_string', 'to_str', 'varchar', 'text', 'stringify', 'repr'], hint: 'write `to_string(x)`' },
  {
    words: ['int', 'integer', 'toint', 'parseint', 'parse_int', 'as_int', 'long', 'tolong', 'to_long', 'bigint'],
    hint: 'write `to_int(x)`',
  },
  {
    words: [
      'float',
      'double',
      'number',
      'tofloat',
      'parsefloat',
      'parse_float',
      'todouble',
      'to_double',
      'toreal',
      'tonumber',
      'to_number',
      'as_float',
      'decimal',
    ],
    hint: 'write `to_float(x)`, or `to_int(x)`',
  },
  { words: ['bool', 'boolean', 'tobool', 'as_bool', 'to_boolean'], hint: 'write `to_bool(x)`' },
  { words: ['cast', 'try_cast', 'convert'], hint: 'write `to_string(x)`, `to_int(x)`, `to_float(x)` or `to_bool(x)`' },
  { words: ['typeof', 'gettype', 'type', 'instanceof', 'isinstance'], hint: 'write `type_of(x)`' },
  { words: ['toupper', 'touppercase', 'upper_case', 'ucase', 'upcase'], hint: 'write `upper(x)`' },
  { words: ['tolower', 'tolowercase', 'lower_case', 'lcase', 'downcase'], hint: 'write `lower(x)`' },
  { words: ['strip', 'ltrim', 'rtrim', 'trimstart', 'trimend', 'btrim'], hint: 'write `trim(x)`' },
  {
    words: ['substr', 'mid', 'left', 'right', 'slice', 'charat', 'char_at', 'substring_index'],
    hint: 'write `substring(x, from, to)`, or `x[0:3]`',
  },
  { words: ['startswith', 'start_with', 'has_prefix', 'hasprefix', 'begins_with', 'starts'], hint: 'write `starts_with(x, "..")`' },
  { words: ['endswith', 'end_with', 'has_suffix', 'hassuffix'], hint: 'write `ends_with(x, "..")`' },
  {
    words: [
      'includes',
      'has',
      'has_any',
      'indexof',
      'index_of',
      'find',
      'position',
      'strpos',
      'instr',
      'locate',
      'in_array',
      'array_contains',
      'mvfind',
      'contains_any',
    ],
    hint: 'write `contains(x, y)`, or `y in x`',
  },
  {
    words: [
      're',
      'regexp',
      'regex',
      'rlike',
      'regexp_like',
      'regexp_match',
      'regexp_contains',
      'matches',
      'match',
      're_match',
      'like',
      'ilike',
      'searchmatch',
    ],
    hint: 'write `regex_match(x, "pattern")`',
  },
  {
    words: ['regexp_extract', 'regexp_substr', 'extract', 'extract_all', 'rex', 'capture', 'grok'],
    hint: 'write `regex_extract(x, "pattern")`',
  },
  {
    words: ['regexp_replace', 'replace_all', 'replaceall', 'replace_regex', 'translate', 'sub', 'gsub'],
    hint: 'write `replace(x, "old", "new")`, which replaces all',
  },
  {
    words: ['strcat', 'string_concat', 'concat_ws', 'string_agg', 'group_concat', 'mvjoin', 'strcat_array'],
    hint: 'write `a + b`, `f"{a} {b}"`, or `join(items, ", ")`',
  },
  { words: ['sprintf', 'printf', 'format_string'], hint: 'write `f"{a} of {b}"`, or `format("{} of {}", a, b)`' },
  { words: ['isnull', 'isempty', 'is_none', 'isna', 'isnan'], hint: 'write `x is null`; for a text `x == ""`, for a list `len(x) == 0`' },
  { words: ['isnotnull', 'is_not_null', 'notnull', 'isnotempty', 'exists', 'defined', 'isdefined'], hint: 'write `x is not null`' },
  { words: ['between', 'in_range', 'inrange', 'is_between'], hint: 'write `x >= a and x <= b`' },
  { words: ['nvl', 'ifnull', 'isnull_or', 'default', 'fillnull', 'zeroifnull', 'firstnonnull', 'or_else'], hint: 'write `x ?? y`' },
  { words: ['iff', 'iif', 'if', 'case', 'when', 'decode', 'cond', 'choose', 'switch'], hint: 'write `if a then b else c`' },
  {
    words: [
      'now_ms',
      'current_timestamp',
      'current_time',
      'current_date',
      'getdate',
      'utcnow',
      'sysdate',
      'systime',
      'localtimestamp',
      'date_now',
      'rowtime',
      'proctime',
    ],
    hint: 'write `timestamp`, the time of the event',
  },
  {
    words: [
      'ago',
      'dateadd',
      'date_add',
      'timestampadd',
      'datetime_add',
      'date_sub',
      'timedelta',
      'interval',
      'relative_time',
      'plusminutes',
    ],
    hint: 'add a duration: `timestamp - 1h`',
  },
  {
    words: ['datediff', 'date_diff', 'timestampdiff', 'datetime_diff', 'time_diff', 'age', 'elapsed'],
    hint: 'subtract: `b.timestamp - a.timestamp`, or `duration_between(a, b)`',
  },
  {
    words: [
      'datetime',
      'todatetime',
      'to_date',
      'parse_date',
      'strptime',
      'to_datetime',
      'date',
      'from_unixtime',
      'unixtimestamp',
      'fromisoformat',
      'parse_time',
    ],
    hint: 'write `to_timestamp(x)`',
  },
  {
    words: ['strftime', 'date_format', 'format_datetime', 'to_char', 'format_date', 'toisostring'],
    hint: 'write `format_time(t, "yyyy-MM-dd HH:mm:ss")`',
  },
  { words: ['dayofweek', 'day_of_week', 'dow', 'getday'], hint: 'write `weekday(t)`; Monday is 1' },
  {
    words: [
      'date_trunc',
      'floor_time',
      'time_bucket',
      'bin',
      'bucket',
      'startofday',
      'startofhour',
      'tumble',
      'tumbling',
      'hop',
      'session',
      'time_slice',
    ],
    hint: 'write `.window(5m)` on the stream; its results have `window_start` and `window_end`',
  },
  { words: ['power', 'pow10'], hint: 'write `pow(x, y)`, or `x ** y`' },
  { words: ['ln', 'log2', 'log1p'], hint: 'write `log(x)`, the natural logarithm, or `log10(x)`' },
  { words: ['ceiling', 'roundup'], hint: 'write `ceil(x)`' },
  { words: ['truncate', 'trunc', 'fix', 'rounddown'], hint: 'write `floor(x)`, or `div(x, 1)`' },
  { words: ['mod', 'modulo', 'remainder', 'fmod'], hint: 'write `x % y`' },
  { words: ['greatest', 'maximum', 'max_of'], hint: 'write `max(x, y)`' },
  { words: ['least', 'minimum', 'min_of'], hint: 'write `min(x, y)`' },
  {
    words: ['md5', 'sha1', 'sha256', 'sha512', 'sha', 'crc32', 'murmur', 'hash_code', 'fingerprint', 'checksum'],
    hint: 'write `hash(x)`, 64 bits as text',
  },
  {
    words: ['cidrmatch', 'in_cidr', 'cidr', 'ip_in', 'ipv4_is_in_range', 'ip_in_range', 'cidr_contains', 'isinsubnet', 'ipv4_is_match'],
    hint: 'write `cidr_match(ip, "10.0.0.0/8")`',
  },
  {
    words: ['haversine', 'st_distance', 'geo_distance_2points', 'distance', 'geodistance'],
    hint: 'write `geo_distance(lat1, lon1, lat2, lon2)`, in metres',
  },
  { words: ['push_back', 'array_append', 'array_concat', 'add'], hint: 'write `push(xs, x)`, which gives a new list' },
  {
    words: ['foreach', 'reduce', 'fold', 'every', 'some'],
    hint: 'lists have `map`, `filter`, `any`, `all` and `sum`; a function may have a loop',
  },
  {
    words: ['print', 'println', 'log_message', 'console', 'puts', 'echo', 'debug'],
    hint: 'write `.print(x)` or `.log(message: ..)` on the stream',
  },
  {
    words: ['lag', 'lead', 'prior', 'previous', 'lag_value', 'streamstats'],
    hint: 'write a pattern of two events, `X as a -> X as b`; in a closure `prev(b).f` is the event before',
  },
  {
    words: ['row_number', 'rownum', 'rank', 'dense_rank', 'sequence_number', 'autoincrement'],
    hint: 'there is none; `count()` without a window numbers the events of a partition',
  },
  { words: ['first_value', 'earliest', 'any_value', 'take_any'], hint: 'write `first(x)`' },
  { words: ['last_value', 'latest', 'lastever', 'most_recent'], hint: 'write `last(x)`' },
  {
    words: [
      'dcount',
      'dc',
      'countd',
      'nunique',
      'uniq',
      'uniqexact',
      'approx_count_distinct',
      'approx_distinct',
      'estdc',
      'count_unique',
      'distinctcount',
      'cardinality_of',
    ],
    hint: 'write `count_distinct(x)`',
  },
  { words: ['cnt', 'counter', 'count_all', 'total_count', 'num', 'countever'], hint: 'write `count()`' },
  { words: ['mean', 'average', 'avgever'], hint: 'write `avg(x)`' },
  { words: ['total', 'sumever'], hint: 'write `sum(x)`' },
  { words: ['std', 'stdev', 'stddev_samp', 'stdevp', 'stddev_pop', 'sd', 'sigma'], hint: 'write `stddev(x)`, of a sample' },
  { words: ['var_samp', 'var_pop', 'varp'], hint: 'write `variance(x)`, of a sample' },
  {
    words: ['quantile', 'perc', 'perc95', 'percentile_cont', 'percentile_disc', 'approx_percentile', 'quantiles', 'pct'],
    hint: 'write `percentile(x, 0.95)`, or `p95(x)`',
  },
  {
    words: ['list', 'array_agg', 'collect_list', 'collect_set', 'make_list', 'make_set', 'json_agg', 'to_list', 'window_list'],
    hint: 'write `collect(x)`; `unique(xs)` leaves each value once',
  },
  {
    words: ['arg_max', 'argmax', 'max_by', 'arg_min', 'argmin', 'min_by', 'maxby', 'minby'],
    hint: 'write `.window(..).order_by(x desc).first()`',
  },
  {
    words: ['countif', 'count_if', 'sumif', 'sum_if', 'avgif', 'dcountif'],
    hint: 'an aggregate takes a filter: `count() where ok`, `sum(x) where ok`',
  },
];

const operatorHints = hintsOf(foreignOperators);
const functionHints = hintsOf(foreignFunctions);

/** What to write for an operator of another language; letter case does not matter. */
export function foreignOperator(name: string): string | undefined {
  return operatorHints.get(name.toLowerCase()) ?? operatorHints.get(snakeCase(name));
}

/** What to write for a function or an aggregate of another language; letter case does not matter. */
export function foreignFunction(name: string): string | undefined {
  return functionHints.get(name.toLowerCase()) ?? functionHints.get(snakeCase(name));
}

function hintsOf(all: readonly ForeignWords[]): ReadonlyMap<string, string> {
  return new Map(all.flatMap(({ words, hint }) => words.map((word) => [word, hint] as const)));
}

/** `groupBy` as `group_by`. */
function snakeCase(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
}

const units: readonly (readonly [RegExp, string])[] = [
  [/^(?:ns|nanos?|nanoseconds?)$/i, 'ns'],
  [/^(?:us|micros?|microseconds?)$/i, 'us'],
  [/^(?:ms|msecs?|millis|milliseconds?)$/i, 'ms'],
  [/^(?:s|secs?|seconds?)$/i, 's'],
  [/^(?:m|mins?|minutes?)$/i, 'm'],
  [/^(?:h|hrs?|hours?)$/i, 'h'],
  [/^(?:d|days?)$/i, 'd'],
  [/^(?:w|weeks?)$/i, 'w'],
];

/** The unit of a duration that a word means: `minutes` is `m`. */
export function unitOf(word: string): string | undefined {
  return units.find(([names]) => names.test(word))?.[1];
}

/** A text that was meant as a duration, as it is written: `"5 minutes"` is `5m`. */
export function durationIn(text: string): string | undefined {
  const [, amount, word] = /^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*$/.exec(text) ?? [];
  const unit = word === undefined ? undefined : unitOf(word);
  return unit === undefined ? undefined : `${amount}${unit}`;
}
