import { describe, expect, test } from 'vitest';
import { connectors, parametersOf } from '../../../../../shared/language/connectors/table.ts';
import { checkText, printed, problems } from '../checking.ts';
import { planned } from './plan-text.ts';

const events = `
event Tick:
    symbol: str
    price: float
    qty: int
event Alert:
    symbol: str
    level: int
    took: int
    note: str?
connector K = kafka (brokers: ["k1:9092"])
connector Out = console ()
connector Web = http (url: "http://x")
context hot (cores: [0])
`;

describe('operators on rows', () => {
  test('see the fields that the operator before them gives', () => {
    expect(
      planned(
        `${events}stream S = Tick as t .filter(x => x.price > 5 and qty > 1).select(symbol, worth: t.price * qty).map(x => {s: x.symbol, w: worth}).where(w > 5).emit()`,
      ),
    ).toMatchInlineSnapshot(`
      "S
        from event Tick as Tick
        filter ((.price > 5) and (.qty > 1))
        select symbol=.symbol, worth=(.price * .qty)
        map {s: .symbol, w: .worth}
        filter (.w > 5)
        emit S all
        = {s: str, w: float}"
    `);
    expect(problems(`${events}stream S = Tick.select(symbol).where(price > 1).emit(x: qty)`)).toMatchInlineSnapshot(`
      "15:38 E034 unknown name \`price\`: the result of \`.select\` has no such field (it has \`symbol\`)
      15:57 E034 unknown name \`qty\`: the result of \`.select\` has no such field (it has \`symbol\`)"
    `);
  });
  test('take blocks and whole events in lambdas', () => {
    expect(planned(`${events}stream S = Tick.map(x => { let y = x.price * 2; {twice: y, all: x} }).emit(twice)`)).toMatchInlineSnapshot(`
      "S
        from event Tick as Tick
        map {set_local; return}
        emit S twice=.twice
        = {twice: any}"
    `);
    expect(problems(`${events}stream S = Tick.map(x => x.price).where(x => x.price).filter((a, b) => true)`)).toMatchInlineSnapshot(`
      "15:21 E062 \`.map\` needs a map, not float (write \`x => {name: value}\`)
      15:66 E051 this function gets one argument, the event"
    `);
  });
  test('refuse what is no condition, no name, no lambda', () => {
    expect(
      problems(`${events}stream S = Tick.where(price + 1).select(price + 1, symbol, symbol).where().where(a: 1).emit(price * 2)`),
    ).toMatchInlineSnapshot(`
      "15:23 E060 a condition is a bool, not float
      15:41 E082 this value needs a name (write name: price + 1)
      15:60 E081 \`symbol\` is given twice
      15:67 E082 \`.where\` needs an argument: a bool, or a lambda from the event to a bool
      15:75 E082 \`.where\` needs an argument: a bool, or a lambda from the event to a bool
      15:82 E080 \`.where\` has no parameter \`a\` (it takes \`condition\`)
      15:93 E034 unknown name \`price\`: the result of \`.select\` has no such field (it has \`symbol\`)
      15:93 E082 this value needs a name (write name: price * 2)"
    `);
  });
  test('of other languages or misspelled are unknown', () => {
    expect(
      problems(`${events}stream S = Tick.were(price > 1).collect().any(x => x).all().flat_map(x => x).xyzzy()`),
    ).toMatchInlineSnapshot(`
      "15:17 E091 there is no operator \`.were\` (did you mean \`.where\`?)
      15:33 E091 there is no operator \`.collect\` (write \`.window(..).aggregate(items: collect(field))\`)
      15:43 E091 there is no operator \`.any\` (write \`.having(any(items, x => ..))\` behind \`.aggregate(items: collect(..))\`, or \`.where(..)\`)
      15:55 E091 there is no operator \`.all\` (write \`.having(all(items, x => ..))\` behind \`.aggregate(items: collect(..))\`, or a pattern \`all X as x -> ..\`)
      15:61 E091 there is no operator \`.flat_map\` (write \`.process(f(..))\` with a function that emits once per item)
      15:78 E091 there is no operator \`.xyzzy\`"
    `);
  });
});

describe('emit', () => {
  test('as a declared event fits its fields, durations into ints as milliseconds', () => {
    expect(
      planned(
        `${events}stream S = Tick.emit as Alert (symbol, level: 1, took: 5s * qty)\nstream T = S.where(note == null and level > 0).emit()`,
      ),
    ).toMatchInlineSnapshot(`
      "S
        from event Tick as Tick
        emit Alert symbol=.symbol, level=1, took=((5s * .qty) / 1ms)
        = {symbol: str, level: int, took: int, note: str}
      T
        from stream S as S
        filter (.note is null and (.level > 0))
        emit T all
        = {symbol: str, level: int, took: int, note: str}"
    `);
    expect(problems(`${events}stream S = Tick.emit as Alert (symbl: symbol, level: symbol, other: 1)`)).toMatchInlineSnapshot(`
      "15:32 E034 event \`Alert\` has no field \`symbl\` (did you mean \`symbol\`?)
      15:47 E062 field \`level\` of \`Alert\` is int, not str
      15:62 E034 event \`Alert\` has no field \`other\` (declare it: \`other: any?\`)"
    `);
  });
  test('as an undeclared type warns', () => {
    expect(
      problems(`${events}stream S = Tick.emit as Alrt (symbol)\nstream T = Tick.emit as Somethingelse (symbol)`),
    ).toMatchInlineSnapshot(`
      "15:25 W031 event type \`Alrt\` is not declared (did you mean \`Alert\`?)
      16:25 W031 event type \`Somethingelse\` is not declared (declare it: \`event Somethingelse:\` with these fields)"
    `);
  });
  test('may say where followers run, when the context is declared', () => {
    expect(
      planned(`${events}stream S = Tick.emit(context: hot, symbol)\nstream T = Tick.emit(context: symbol, qty: 1)`),
    ).toMatchInlineSnapshot(`
      "S
        from event Tick as Tick
        emit S symbol=.symbol
        context hot{followers: true}
        = {symbol: str}
      T
        from event Tick as Tick
        emit T context=.symbol, qty=1
        = {context: str, qty: int}"
    `);
  });
  test('may give a field called event_type', () => {
    expect(planned(`${events}stream S = Tick.emit(event_type: "x", was: event_type)`)).toMatchInlineSnapshot(`
      "S
        from event Tick as Tick
        emit S event_type="x", was=@event_type
        = {event_type: str, was: str}"
    `);
  });
});

describe('side effects', () => {
  test('keep the rows as they are', () => {
    expect(
      planned(`${events}stream S = Tick
    .tap(price * 2).tap(counter: "ticks", labels: [symbol, qty]).print().print(symbol, price)
    .log(level: "warn", message: f"{symbol}", data: {p: price}).log("text").log(level: warn, message: "m")
    .alert(url: "http://x", message: "{symbol} at {price * 2} {{json}}").alert(webhook: "http://y").alert()
    .to(K, topic: "t").to(K, topic: symbol, format: flat).to(Out).to(console).to(K)
    .emit(symbol)`),
    ).toMatchInlineSnapshot(`
      "S
        from event Tick as Tick
        tap tap (.price * 2)
        tap tap  count ticks{symbol=.symbol, qty=.qty}
        tap print
        tap print .symbol, .price
        tap log "warn" f(.symbol) {p: .price}
        tap log - "text" -
        tap log "warn" "m" -
        alert http://x f("", .symbol, " at ", (.price * 2), " {json}")
        alert http://y
        alert null
        to K "t"
        to K .symbol{format: flat}
        to Out null
        to console null
        to K "S"
        emit S symbol=.symbol
        = {symbol: str}"
    `);
  });
  test('say where in a message the unknown name stands, however many expressions are in it', { timeout: 15_000 }, () => {
    const many = '{price}'.repeat(20_000);
    expect(problems(`${events}stream S = Tick.alert(message: "${many} {pric} {symbol}")`)).toMatch(/^15:140035 E034 unknown name `pric`/);
  });
  test('refuse what they cannot take', () => {
    expect(
      problems(`${events}stream S = Tick
    .tap(labels: [symbol]).tap(counter: symbol).log(level: "loud", message: "x").alert(message: "{1 +}").alert(url: 5)
    .log(lvl: 1).print(a: 1)`),
    ).toMatchInlineSnapshot(`
      "16:5 E082 \`.tap\` needs something to look at (write \`.tap(expression)\` or \`.tap(counter: "name")\`)
      16:10 E082 \`labels:\` are those of a counter (write \`counter: "name"\` too)
      16:41 E081 \`counter\` must be known before the program runs (write a literal or a const)
      16:60 E081 \`level\` must be one of "debug", "info", "warn", "error"
      16:97 E081 \`{1 +}\` in a message must be an expression (a brace as text is written \`{{\`)
      16:117 E081 \`url\` must be a text
      17:10 E080 \`.log\` has no parameter \`lvl\` (it takes \`message\`, \`level\`, \`data\`)
      17:24 E080 \`.print\` has no parameter \`a\` (it takes none)"
    `);
  });
  test('process gives what the function emits', () => {
    expect(
      planned(`${events}
fn split(t: Tick, n: int):
    for i in 0..n:
        emit Alert(symbol: t.symbol, level: i, took: 0)
    if n > 3:
        emit Other(x: 1)
stream S = Tick as t .process(split(t, qty)).where(level > 1).emit(symbol, x)`),
    ).toMatchInlineSnapshot(`
  "S
    from event Tick as Tick
    process split(row(), .qty)
    filter (.level > 1)
    emit S symbol=.symbol, x=.x
    = {symbol: any, x: any}"
`);
    expect(problems(`${events}stream S = Tick.process(len(symbol)).process(nothing()).process(5).process()`)).toMatchInlineSnapshot(`
      "15:25 E050 the program declares no function \`len\` (write .process(f(x)) with \`fn f(x): ..\`)
      15:46 E050 the program declares no function \`nothing\` (write .process(f(x)) with \`fn f(x): ..\`)
      15:65 E050 \`.process\` calls a function of the program (write .process(f(x)) with \`fn f(x): ..\`)
      15:67 E082 \`.process\` needs an argument: a call of a function of the program"
    `);
  });
});

describe('connectors of operators', () => {
  test('must be declared and able', () => {
    expect(
      problems(`${events}connector Db = postgres (url: "postgres://x")
connector Bad = kafak (brokers: "x")
connector Poor = kafka (topic: "t", brokrs: "x", batch_size: "many", compression: "zip")
connector Brk = http (url: "x", reset_timeout: 4, headers: {"a": "b"}, failure_threshold: 2)
stream A = Tick.from(Db, topic: "x").to(Kk, topic: "t").to(nats).to("K", topic: "x")
stream B = Tick.enrich(K, key: symbol, fields: [a]).to(5).to(K, tpic: "x")
stream C = Tick.from(Out).to(K)
stream D = Tick.to(K, topic: "t", compression: "zap", batch_size: symbol)`),
    ).toMatchInlineSnapshot(`
      "16:17 E094 there is no connector type \`kafak\` (did you mean \`kafka\`? known types: kafka, nats, mqtt, redis, http, file, console, websocket, postgres, mysql, database, syslog, smtp)
      17:11 E082 connector \`Poor\` of type kafka needs \`brokers\`
      17:37 E080 connector type kafka has no parameter \`brokrs\` (did you mean \`brokers\`?)
      17:50 E081 \`batch_size\` must be a whole number
      17:70 E081 \`compression\` cannot be "zip" (it is one of "none", "gzip", "snappy", "lz4", "zstd")
      18:33 E061 \`reset_timeout\` must be a duration, like \`4s\`
      19:22 E032 connector \`Db\` is of type postgres, which gives no events (\`.from\`) (types that can: kafka, nats, mqtt, redis, http, file, websocket, syslog)
      19:41 E030 no connector \`Kk\` is declared (did you mean \`K\`?)
      19:60 E030 no connector \`nats\` is declared (declare it: \`connector nats = nats (..)\`)
      20:24 E032 connector \`K\` is of type kafka, which cannot look anything up (\`.enrich\`) (types that can: redis, http, postgres, mysql, database)
      20:56 E081 \`.to\` takes the name of a connector first
      20:58 W041 no topic is given: the name of the stream, "B", is used (write \`topic: "B"\`)
      20:65 E080 connector type kafka has no parameter \`tpic\` (did you mean \`topic\`?)
      21:22 E032 connector \`Out\` is of type console, which gives no events (\`.from\`) (types that can: kafka, nats, mqtt, redis, http, file, websocket, syslog)
      21:26 W041 no topic is given: the name of the stream, "C", is used (write \`topic: "C"\`)
      22:35 E081 \`compression\` cannot be "zap" (it is one of "none", "gzip", "snappy", "lz4", "zstd")
      22:35 E080 \`.to\` takes no \`compression\`: it is a parameter of the connector, for all that is sent to it (write it where \`K\` is declared, or declare another connector with it)
      22:55 E080 \`.to\` takes no \`batch_size\`: it is a parameter of the connector, for all that is sent to it (write it where \`K\` is declared, or declare another connector with it)
      22:67 E034 unknown name \`symbol\`"
    `);
  });
});

describe('parameters at `.to`', () => {
  const everyType = connectors.filter(({ roles }) => roles.includes('sink'));

  test.each(everyType.map((each) => [each.name, each] as const))('of %s are taken or refused, none is ignored', (name, connector) => {
    for (const { name: parameter, aliases = [], perUse } of parametersOf(connector)) {
      if (perUse || connector.topics.includes(parameter)) continue;
      for (const spelled of [parameter, ...aliases]) {
        const found = problems(`${events}connector Own = ${name} (profile: "p")\nstream A = Tick.to(Own, ${spelled}: 5)`);
        expect(found).toContain(`E080 \`.to\` takes no \`${spelled}\``);
      }
    }
  });

  test.each([
    ['postgres', 'table'],
    ['file', 'path'],
    ['nats', 'subject'],
    ['http', 'topic'],
  ])('of %s: `%s` is the topic', (name, parameter) => {
    const plan = planned(`${events}connector Own = ${name} (profile: "p")\nstream A = Tick.to(Own, ${parameter}: "there")`);
    expect(plan).toContain('to Own "there"');
  });
});

describe('a channel or a stream of Redis at `.to`', () => {
  const sent = (connector: string, parameter: string): string =>
    problems(`${events}connector R = ${connector}\nstream A = Tick.to(R, ${parameter}: "there")`);

  test.each([
    ['redis (url: "redis://x")', 'channel', 'stream'],
    ['redis (url: "redis://x", channel: "c", max_len: 5)', 'channel', 'stream'],
    ['redis (url: "redis://x", max_len: 5)', 'stream', 'channel'],
    ['redis_stream (url: "redis://x")', 'stream', 'channel'],
  ])('of %s is a %s, and no %s', (connector, own, other) => {
    expect(sent(connector, own)).toBe('');
    expect(sent(connector, 'topic')).toBe('');
    expect(sent(connector, other)).toContain(`E080 \`.to\` takes no \`${other}\` here: as it is declared, \`R\` sends to a ${own}`);
  });

  test('is not judged where a profile may say which', () => {
    expect(sent('redis (profile: "p")', 'stream')).toBe('');
  });
});

describe('what a connector needs', () => {
  test('depends on what it is used for', () => {
    expect(
      problems(`${events}connector Db = postgres (url: "postgres://x")
connector Hook = http (secret: "s")
connector Files = file ()
connector Prod = http (profile: "prod")
stream A = Tick.enrich(Db, key: symbol, fields: [a]).to(Db).to(Db, table: "t").to(Hook).to(Files).to(Files, topic: "x").to(Prod)
stream B = Tick.from(Hook)
stream C = Tick.from(Files)`),
    ).toMatchInlineSnapshot(`
  "19:16 E082 connector \`Db\` of type postgres needs \`query\` for \`.enrich\`
  19:53 E082 connector \`Db\` of type postgres needs \`table\` or \`topic\` for \`.to\`
  19:79 E082 connector \`Hook\` of type http needs \`url\` for \`.to\`
  19:88 E082 connector \`Files\` of type file needs \`path\` or \`topic\` for \`.to\`
  21:16 E082 connector \`Files\` of type file needs \`path\` or \`topic\` for \`.from\`"
`);
  });
  test('may be registered with the server', () => {
    const { diagnostics } = checkText(
      `${events}stream A = Tick.from(Shared).to(Shared).to(Sink)`,
      {},
      {
        registeredConnectors: new Map([
          ['Shared', { type: 'kafka' }],
          ['Sink', { type: 'nothing' }],
        ]),
      },
    );
    expect(diagnostics).toEqual([]);
  });
});

describe('branches', () => {
  test('have names and keys that are checked', () => {
    expect(
      problems(`${events}stream S = Tick.fork(a: .partition_by(nothing).where(price > 1), b: .fork(a: .emit(), c: .emit()))`),
    ).toMatchInlineSnapshot(`
      "15:39 E034 unknown name \`nothing\`: event \`Tick\` has no such field (declare it in the event: \`nothing: any?\`)
      15:75 E081 branch \`a\` is given twice"
    `);
  });

  test('have one name each, also one in the other', () => {
    expect(
      problems(`${events}stream S = Tick.fork(a: .fork(a: .emit(price)), b: .fork(c: .fork(b: .emit(price))))`),
    ).toMatchInlineSnapshot(`
      "15:31 E081 branch \`a\` is given twice
      15:67 E081 branch \`b\` is given twice"
    `);
  });

  test('are not called as what comes too late', () => {
    expect(problems(`${events}stream S = Tick.fork(late: .emit(price), a: .fork(late: .emit(price)))`)).toMatchInlineSnapshot(`
      "15:22 E081 a branch cannot be called \`late\`: \`S.late\` is what comes too late
      15:51 E081 a branch cannot be called \`late\`: \`S.late\` is what comes too late"
    `);
  });
});

describe('names that ended', () => {
  test('are explained', () => {
    expect(
      problems(`${events}stream S = join(Tick as a, Tick as b).on(a.symbol == b.symbol).window(1m).select(p: a.price).where(b.qty > 1)
stream M = merge(Tick as t, Alert).where(t.price > 1)
stream F = Tick as a -> Tick as b .within(1m).forecast().where(forecast_expected_time < 5s).emit(x: a.price).emit(y: a.price)
stream C = Tick.concurrent(workers: 2, partition_key: symbl)`),
    ).toMatchInlineSnapshot(`
  "15:100 E035 unknown alias \`b\` (the result of \`.select\` has only the fields written there: give it what is needed of \`b\`)
  16:42 E035 unknown alias \`t\` (\`t\` is one input of the merge: write its fields bare)
  17:118 E035 unknown alias \`a\` (the result of \`.emit\` has only the fields written there: give it what is needed of \`a\`)
  18:40 E034 there is no field \`symbl\` here (did you mean \`symbol\`?)"
`);
  });
});

describe('enrich and score', () => {
  test('add fields and attributes', () => {
    expect(
      planned(`${events}stream S = Tick.enrich(Web, key: symbol, fields: [company, "sector"], cache_ttl: 5m, fallback: {company: "?"}).score(model: "m.onnx", inputs: [price, qty * 2], outputs: [risk], batch_size: 8, gpu: true)
    .where(enrich_status == "ok" and enrich_latency_ms < 5 and risk > 0.5).emit(symbol, company, sector, risk)`),
    ).toMatchInlineSnapshot(`
      "S
        from event Tick as Tick
        enrich Web .symbol [company, sector] ttl 300000 timeout 5000 else {"company": "?"}
        score m.onnx price: .price, qty * 2: (.qty * 2) -> risk{batch_size: 8, gpu: true}
        filter (((@enrich_status == "ok") and (@enrich_latency_ms < 5)) and (.risk > 0.5))
        emit S symbol=.symbol, company=.company, sector=.sector, risk=.risk
        = {symbol: str, company: any, sector: any, risk: any}"
    `);
    expect(planned(`${events}stream S = Tick.score("m.onnx", inputs: {a: price}, outputs: risk).emit(risk)`)).toMatchInlineSnapshot(`
      "S
        from event Tick as Tick
        score m.onnx a: .price -> risk
        emit S risk=.risk
        = {risk: any}"
    `);
  });
  test('warn where something stays open', () => {
    expect(problems(`${events}stream S = Tick.enrich(Web, key: symbol).emit(anything)`)).toMatchInlineSnapshot(
      `"15:16 W032 without \`fields:\` every field of the answer is added, of type any (name them: \`fields: [a, b]\`)"`,
    );
    expect(
      problems(
        `${events}stream S = Tick.enrich(Web).score(model: symbol, inputs: [price]).enrich(Web, key: 1, fields: [1], timeout: 5, ttl: 1m)`,
      ),
    ).toMatchInlineSnapshot(`
      "15:16 E082 \`.enrich\` needs \`key:\`, what is looked up
      15:16 W032 without \`fields:\` every field of the answer is added, of type any (name them: \`fields: [a, b]\`)
      15:28 E082 \`.score\` needs \`outputs:\`, fields that the outputs become
      15:42 E081 \`model\` must be known before the program runs (write a literal or a const)
      15:96 E081 \`fields\` takes names of fields: \`[a, b]\`
      15:109 E061 a duration is needed here, not int (write a unit: 5s, 5m)
      15:112 E080 \`.enrich\` has no parameter \`ttl\` (it takes \`connector\`, \`key\`, \`fields\`, \`cache_ttl\`, \`timeout\`, \`fallback\`)"
    `);
  });
  test('a model that cannot run is a warning', () => {
    const { diagnostics } = checkText(
      `${events}stream S = Tick.score(model: "m.onnx", inputs: [price], outputs: [r]).emit(r)`,
      {},
      { canScore: () => false },
    );
    expect(diagnostics.map(printed).join('\n')).toMatchInlineSnapshot(
      `"15:16 W047 this build cannot run the model "m.onnx" (the program is checked all the same; loading it needs the runtime and the model)"`,
    );
  });
});

describe('places and settings', () => {
  test('contexts must be declared', () => {
    expect(
      planned(`${events}stream S = Tick.context(hot).concurrent(workers: 4, partition_key: symbol).emit(symbol)`),
    ).toMatchInlineSnapshot(`
      "S
        from event Tick as Tick
        context hot
        context null{workers: 4, partition_key: symbol}
        emit S symbol=.symbol
        = {symbol: str}"
    `);
    expect(
      problems(`${events}stream S = Tick.context(hto).context(5).concurrent(workers: 0, partition_key: 5).context()`),
    ).toMatchInlineSnapshot(`
      "15:25 E031 no context \`hto\` is declared (did you mean \`hot\`?)
      15:38 E031 no context \`5\` is declared (declare it: \`context hot (cores: [0])\`)
      15:61 E081 \`workers\` must be a whole number of at least 1
      15:79 E081 \`partition_key\` must be the name of a field
      15:81 E082 \`.context\` needs an argument: a declared context"
    `);
  });
  test('hold for the whole stream wherever they stand', () => {
    expect(
      planned(
        `${events}stream S = Tick.emit(symbol).watermark(on: qty, out_of_order: 5s, idle: 1m).allowed_lateness(10s).on_error(null).partition_by(symbol, expire: 1h)`,
      ),
    ).toMatchInlineSnapshot(`
      "S
        from event Tick as Tick
        by symbol=.symbol expire 3600000
        time on qty, out of order 5000, idle 60000, lateness 10000
        on error null
        emit S symbol=.symbol
        = {symbol: str}"
    `);
    expect(
      problems(
        `${events}stream S = Tick.watermark(on: ts, out_of_order: 5).watermark(idle: 1s).allowed_lateness(x).on_error(ignore).on_error(dlq).watermark(lag: 5s)`,
      ),
    ).toMatchInlineSnapshot(`
      "15:31 E034 event \`Tick\` has no field \`ts\`
      15:49 E061 a duration is needed here, not int (write a unit: 5s, 5m)
      15:51 E021 \`.watermark\` stands here twice (it applies to the whole stream: write it once)
      15:89 E034 unknown name \`x\`
      15:101 E081 \`action\` cannot be \`ignore\` (it is one of \`skip\`, \`null\`, \`dlq\`)
      15:108 E021 \`.on_error\` stands here twice (it applies to the whole stream: write it once)
      15:133 E080 \`.watermark\` has no parameter \`lag\` (it takes \`on\`, \`out_of_order\`, \`idle\`)"
    `);
  });
  test('fork branches see the rows of the fork and give results of the stream', () => {
    expect(
      planned(`${events}stream S = Tick.partition_by(symbol).fork(
    a: .where(price > 5).limit(3).emit(p: price),
    b: .partition_by(qty).window(5m).aggregate(n: count()).limit(1).emit(n, qty, symbol)
).print()
stream T = S.b.emit(n)`),
    ).toMatchInlineSnapshot(`
  "S
    from event Tick as Tick
    by symbol=.symbol
    fork
      a:
        filter (.price > 5)
        limit 3 per stream
        emit S p=.price
      b:
        window {kind:time,sizeMs:300000,slideMs:300000,offsetMs:0,align:epoch,earlyMs:null} [count()] n=#0 by symbol=.symbol, qty=.qty
        limit 1 per stream by symbol=.symbol, qty=.qty
        emit S n=.n, qty=.qty, symbol=.symbol
    tap print
    = {p: any, n: any, qty: any, symbol: any}
  T
    from branch S.b as b
    emit T n=.n
    = {n: int}"
`);
    expect(
      problems(
        `${events}stream S = Tick.fork(a: .watermark(on: x), a: .emit(), b: price, .emit()).fork()\nstream U = Tick.fork(a: .within(5s), b: .having(x > 1).aggregate(x: count()))`,
      ),
    ).toMatchInlineSnapshot(`
      "15:25 E092 \`.watermark\` applies to the whole stream and cannot stand in a branch (write it before \`.fork\`)
      15:44 E081 branch \`a\` is given twice
      15:56 E081 a branch is a chain of operators (write \`b: .where(..).emit(..)\`)
      15:66 E082 an argument of \`.fork\` needs a name (write \`name: .emit()\`)
      15:74 E082 \`.fork\` needs an argument: \`name: .op().op()\`
      16:25 E020 \`.within\` needs a pattern, and this source is none (write a pattern (\`A as a -> B as b .within(10s)\`), or \`.window(10s)\`)
      16:41 E010 \`.having\` stands before the \`.aggregate\` whose results it reads (write it behind \`.aggregate\`, or write \`.where\`)
      16:55 W001 without a window the aggregate runs over everything so far (put \`.window(..)\` before it if that is not meant)"
    `);
  });
});

describe('a name that two fields of a match or a join would have', () => {
  const declared = 'event A: id: int, b_id: int\nevent D: id: int, duration_ms: int\n';

  test('is refused where the fields are given by these names', () => {
    expect(
      problems(
        `${declared}stream S = A as a -> A as a_b .within(1m).emit()
stream T = A as a -> A as a_b .within(1m)
stream J = join(A as x, A as x_b).on(x.id < x_b.id).window(5s).emit()
stream F = A as a -> A as a_b .within(1m).fork(q: .where(a.id > 1), r: .emit(x: a.id))
stream M = A as a -> D as match .within(1m).emit()`,
      ),
    ).toMatchInlineSnapshot(`
      "3:42 E081 the field \`a_b_id\` would be both \`a.b_id\` and \`a_b.id\` (give an alias another name, or name the fields in \`.emit(..)\`)
      4:8 E081 the field \`a_b_id\` would be both \`a.b_id\` and \`a_b.id\` (give an alias another name, or name the fields in \`.emit(..)\`)
      5:63 E081 the field \`x_b_id\` would be both \`x.b_id\` and \`x_b.id\` (give an alias another name, or name the fields in \`.emit(..)\`)
      6:48 E081 the field \`a_b_id\` would be both \`a.b_id\` and \`a_b.id\` (give an alias another name, or name the fields in \`.emit(..)\`)
      7:44 E081 the field \`match_duration_ms\` would be both the duration of the match and \`match.duration_ms\` (give an alias another name, or name the fields in \`.emit(..)\`)"
    `);
  });

  test('and where it is read', () => {
    expect(
      problems(
        `${declared}stream S = A as a -> A as a_b .within(1m).where(a_b_id > 1).emit(x: a.b_id)
stream M = A as a -> D as match .within(1m).emit(d: match_duration_ms)`,
      ),
    ).toMatchInlineSnapshot(`
      "3:49 E034 \`a_b_id\` would be both \`a.b_id\` and \`a_b.id\` (read it by its alias, or give an alias another name)
      4:53 E034 \`match_duration_ms\` would be both the duration of the match and \`match.duration_ms\` (read it by its alias, or give an alias another name)"
    `);
  });

  test('does no harm where the fields have names of their own', () => {
    expect(
      problems(
        `${declared}stream S = A as a -> A as a_b .within(1m).where(a.id > 1).emit(x: a.b_id, y: a_b.id, ms: match_duration_ms)
stream J = join(A as x, A as x_b).on(x.id < x_b.id).window(5s).select(x: x.b_id, y: x_b.id).emit()
stream M = A as a -> D as match .within(1m).emit(d: match.duration_ms)`,
      ),
    ).toBe('');
  });
});

describe('what must be known before the program runs', () => {
  const limits = { 'limits.vpl': 'const SIZE = 3\nconst GAP = 5s\n' };
  const errors = (text: string): string =>
    problems(text, limits)
      .split('\n')
      .filter((line) => / E\d/.test(line))
      .join('\n');

  test.each([
    ['A.window(m.SIZE).aggregate(n: count()).emit()'],
    ['A.window(m.GAP).aggregate(n: count()).emit()'],
    ['A.window(max(2, 3)).aggregate(n: count()).emit()'],
    ['A.limit(m.SIZE).emit()'],
    ['A.limit(m.SIZE + len([1, 2])).emit()'],
    ['A.dedupe(k, within: m.GAP).emit()'],
    ['A as a -> NOT B within m.GAP .emit(x: a.x)'],
    ['A as a -> B as b within m.GAP .emit(x: b.x)'],
    ['A as a -> B as b .within(max(1s, m.GAP)).emit(x: b.x)'],
  ])('may be made of what an import declares, and of calls, where the event is not declared: %s', (stream) => {
    expect(errors(`import "limits.vpl" as m\nstream S = ${stream}`)).toBe('');
  });

  test('is not read from the row by what has the name of a function or of an import', () => {
    expect(
      errors(
        `import "limits.vpl" as m
event A: max: int, m: int
stream S = A.limit(max(2, m.SIZE)).emit(x: 1)
stream T = A as a -> NOT A within max(1s, m.GAP) .emit(x: 1)`,
      ),
    ).toBe('');
  });

  test('is refused for what is missing in it', () => {
    expect(
      errors('import "limits.vpl" as m\nstream S = A.limit(m.SIZ).emit()\nstream T = A.limit(m.SIZE + v).emit()'),
    ).toMatchInlineSnapshot(`
      "2:20 E033 \`m\` declares no value \`SIZ\` (did you mean \`m.SIZE\`?)
      3:20 E081 \`count\` must be known before the program runs (write a literal or a const)"
    `);
  });
});
