import { describe, expect, test } from 'vitest';
import { problems } from '../checking.ts';
import { planned } from './plan-text.ts';

const events = `
event Tick:
    symbol: str
    price: float
    qty: int
    ok: bool
`;

const windowOf = (args: string): string => {
  const line = planned(`${events}stream S = Tick.window(${args})`)
    .split('\n')
    .find((each) => each.includes('window'));
  return `${args} -> ${line?.trim()}`;
};

describe('a window', () => {
  test('is one of time, of a number of events, or a session', () => {
    const forms = [
      '5m',
      '5m, sliding: 1m',
      '5m, offset: 30s',
      '5m, align: first',
      '5m, early: 10s',
      '100',
      '100, sliding: 10',
      'session: 5m',
      'session: 5m, early: 1m',
      '5m, policy: "watermark"',
      '10m / 2',
    ];
    expect(forms.map(windowOf).join('\n')).toMatchInlineSnapshot(`
      "5m -> window {kind:time,sizeMs:300000,slideMs:300000,offsetMs:0,align:epoch,earlyMs:null}
      5m, sliding: 1m -> window {kind:time,sizeMs:300000,slideMs:60000,offsetMs:0,align:epoch,earlyMs:null}
      5m, offset: 30s -> window {kind:time,sizeMs:300000,slideMs:300000,offsetMs:30000,align:epoch,earlyMs:null}
      5m, align: first -> window {kind:time,sizeMs:300000,slideMs:300000,offsetMs:0,align:first,earlyMs:null}
      5m, early: 10s -> window {kind:time,sizeMs:300000,slideMs:300000,offsetMs:0,align:epoch,earlyMs:10000}
      100 -> window {kind:count,size:100,slide:null}
      100, sliding: 10 -> window {kind:count,size:100,slide:10}
      session: 5m -> window {kind:session,gapMs:300000,earlyMs:null}
      session: 5m, early: 1m -> window {kind:session,gapMs:300000,earlyMs:60000}
      5m, policy: "watermark" -> window {kind:time,sizeMs:300000,slideMs:300000,offsetMs:0,align:epoch,earlyMs:null}
      10m / 2 -> window {kind:time,sizeMs:300000,slideMs:300000,offsetMs:0,align:epoch,earlyMs:null}"
    `);
  });
  test('refuses what fits no form', () => {
    const windows = [
      '',
      '5m, 1m',
      '5m, sliding: 10',
      '100, sliding: 1m',
      '5m, sliding: 10m',
      '10, sliding: 20',
      'session: 5m, sliding: 1m',
      '5m, session: 1m',
      'price',
      '0',
      '-5m',
      '1.5',
      '5m, align: frist',
      '5m, policy: latest',
      '100, early: 5s',
      '5m, slidng: 1m',
      'session: 5',
      '5m, early: 5',
    ];
    expect(windows.map((args) => problems(`${events}stream S = Tick.window(${args})`)).join('\n')).toMatchInlineSnapshot(`
      "7:16 E082 \`.window\` needs a duration, a number of events, or \`session:\`
      7:28 E080 \`.window\` takes one argument without a name (it also takes \`sliding:\`, \`session:\`, \`offset:\`, \`align:\`, \`early:\`, \`policy:\`)
      7:16 E081 a time window slides by a duration, not by a number of events
      7:16 E081 a count window slides by a number of events, not by a duration
      7:16 E081 \`sliding\` must not be longer than the window
      7:16 E081 \`sliding\` must not be larger than the window, 10
      7:37 E080 \`sliding\` means nothing for a session window
      7:16 E081 a window has a size or is a session, not both
      7:24 E081 \`size\` must be known before the program runs (write a literal or a const)
      7:24 E081 \`size\` must be a duration of more than 0s (\`5m\`) or a whole number of at least one event
      7:24 E081 \`size\` must be a duration of more than 0s (\`5m\`) or a whole number of at least one event
      7:24 E081 \`size\` must be a duration of more than 0s (\`5m\`) or a whole number of at least one event
      7:35 E081 \`align\` cannot be \`frist\` (did you mean \`first\`?)
      7:16 E081 \`policy: latest\` belongs to the window of a join
      7:29 E080 \`early\` means nothing for a count window
      7:28 E080 \`.window\` has no parameter \`slidng\` (did you mean \`sliding\`?)
      7:33 E061 a duration is needed here, not int (write a unit: 5s, 5m)
      7:35 E061 a duration is needed here, not int (write a unit: 5s, 5m)"
    `);
  });
  test('bounds the windows that one event is in', () => {
    expect(problems(`${events}stream S = Tick.window(1d, sliding: 1ms)`)).toBe(
      '7:16 E081 an event may be in at most 10000 windows at once: make `sliding` longer or the window shorter',
    );
    expect(problems(`${events}stream S = Tick.window(10s, sliding: 1ms).emit()`)).toBe('');
  });
  test('hands on its events, over which operators act per window', () => {
    expect(
      planned(
        `${events}stream S = Tick.window(5m).order_by(price desc, qty).limit(3).distinct(symbol).first().emit(symbol, window_end, is_final)`,
      ),
    ).toMatchInlineSnapshot(`
      "S
        from event Tick as Tick
        window {kind:time,sizeMs:300000,slideMs:300000,offsetMs:0,align:epoch,earlyMs:null}
        order_by .price desc, .qty
        limit 3 per window
        distinct .symbol within null per window
        limit 1 per window
        emit S symbol=.symbol, window_end=@window_end, is_final=@is_final
        = {symbol: str, window_end: timestamp, is_final: bool}"
    `);
    expect(planned(`${events}stream S = Tick.window(5m).last()`)).toMatchInlineSnapshot(`
      "S
        from event Tick as Tick
        window {kind:time,sizeMs:300000,slideMs:300000,offsetMs:0,align:epoch,earlyMs:null}
        last
        = {symbol: str, price: float, qty: int, ok: bool}"
    `);
  });
  test('stands once in a chain, and so does an aggregate', () => {
    expect(
      problems(`${events}stream S = Tick.window(5m).where(ok).window(1m).aggregate(a: count()).aggregate(b: sum(a)).window(1m)`),
    ).toMatchInlineSnapshot(`
      "7:37 E012 this stream has a window already (continue in a stream of its own: \`stream Next = This.window(..)\`)
      7:70 E011 this stream has an aggregate already (continue in a stream of its own: \`stream Next = This.aggregate(..)\`)
      7:91 E012 this stream has a window already (continue in a stream of its own: \`stream Next = This.window(..)\`)"
    `);
    expect(
      problems(`${events}stream S = Tick.window(1m).order_by(price, [symbol] desc, {a: price}).first().emit(symbol)`),
    ).toMatchInlineSnapshot(`
      "7:44 E062 \`.order_by\` needs a value that has an order, not [str]
      7:59 E062 \`.order_by\` needs a value that has an order, not {str: float}"
    `);
    expect(problems(`${events}stream S = Tick.order_by(price).last().window(1m)`)).toMatchInlineSnapshot(`
      "7:16 E092 \`.order_by\` needs a window before it (a stream has no end: write \`.window(..).order_by(..)\`)
      7:32 E092 \`.last\` needs a window before it (a stream has no end: write \`.window(..).last(..)\`)"
    `);
  });
  test('is looked at by predicates before it is aggregated', () => {
    expect(problems(`${events}stream S = Tick.window(5m).aggregate(n: count()).pattern(a: e => len(e) > 2)`)).toMatchInlineSnapshot(
      `"7:49 E092 \`.pattern\` looks at the events of a window (write it right behind \`.window(..)\`)"`,
    );
  });
  test('takes predicates over its events', () => {
    expect(
      planned(
        `${events}stream S = Tick.window(5m).pattern(rising: events => len(events) > 2 and events[0].price < events[-1].price).aggregate(n: count())`,
      ),
    ).toMatchInlineSnapshot(`
      "S
        from event Tick as Tick
        window {kind:time,sizeMs:300000,slideMs:300000,offsetMs:0,align:epoch,earlyMs:null} if ((len(local0) > 2) and (local0[0].price < local0[-1].price)) [count()] n=#0
        = {n: int}"
    `);
    expect(
      problems(
        `${events}stream S = Tick.window(5m).pattern(a: Tick -> Tick)\nstream T = Tick.pattern(a: e => true)\nstream U = Tick.window(5m).where(ok).pattern(a: e => true)\nstream V = Tick.window(5m).pattern(a: e => e[0].nothing, b: 5, e => true)`,
      ),
    ).toMatchInlineSnapshot(`
      "7:39 E092 a pattern of steps cannot stand in \`.pattern\` (write it as the source of a stream: \`stream S = Tick -> Tick\`)
      8:16 E092 \`.pattern\` looks at the events of a window (write it right behind \`.window(..)\`)
      9:37 E092 \`.pattern\` looks at the events of a window (write it right behind \`.window(..)\`)
      10:49 E034 \`event\` has no field \`nothing\` (it has \`symbol\`, \`price\`, \`qty\`, \`ok\`)
      10:61 E062 \`.pattern\` takes a function of the events: \`name: events => condition\`
      10:64 E082 an argument of \`.pattern\` needs a name (write \`name: e => true\`)"
    `);
  });
});

describe('an aggregate', () => {
  test('joins the window before it and keeps the keys readable', () => {
    expect(
      planned(
        `${events}stream S = Tick.partition_by(symbol, day: floor(price)).window(5m).aggregate(n: count(), worth: sum(price * qty) / sum(qty), good: count() where ok, spread: max(price) - min(price)).having(n > 1 and window_end > window_start).limit(5).emit(symbol, day, n)`,
      ),
    ).toMatchInlineSnapshot(`
      "S
        from event Tick as Tick
        by symbol=.symbol, day=floor(.price)
        window {kind:time,sizeMs:300000,slideMs:300000,offsetMs:0,align:epoch,earlyMs:null} [count(), sum((.price * .qty)), sum(.qty), count() where .ok, max(.price), min(.price)] n=#0, worth=(#1 / #2), good=#3, spread=(#4 - #5)
        filter ((.n > 1) and (@window_end > @window_start))
        limit 5 per stream by symbol=.symbol, day=.day
        emit S symbol=.symbol, day=.day, n=.n
        = {symbol: str, day: int, n: int}"
    `);
  });
  test('behind other operators takes what came through the window', () => {
    expect(
      planned(`${events}stream S = Tick.partition_by(symbol).window(5m).where(ok).aggregate(n: count(), w: window_start).emit()`),
    ).toMatchInlineSnapshot(`
      "S
        from event Tick as Tick
        by symbol=.symbol
        window {kind:time,sizeMs:300000,slideMs:300000,offsetMs:0,align:epoch,earlyMs:null}
        filter .ok
        window_aggregate [count()] n=#0, w=@window_start
        emit S all
        = {symbol: str, n: int, w: timestamp}"
    `);
  });
  test('without a window runs, which is warned about', () => {
    expect(problems(`${events}stream S = Tick.aggregate(n: count(), r: rate())`)).toMatchInlineSnapshot(`
      "7:16 W001 without a window the aggregate runs over everything so far (put \`.window(..)\` before it if that is not meant)
      7:42 E073 \`rate\` needs a window (put .window(..) before .aggregate(..))"
    `);
    expect(planned(`${events}stream S = Tick.partition_by(symbol).aggregate(n: count()).where(n > 5).distinct()`)).toMatchInlineSnapshot(`
      "S
        from event Tick as Tick
        by symbol=.symbol
        aggregate [count()] n=#0
        filter (.n > 5)
        distinct all within null per stream
        = {symbol: str, n: int}"
    `);
  });
  test('refuses unknown aggregates, wrong arguments, and what is none', () => {
    expect(
      problems(
        `${events}stream S = Tick.window(5m).aggregate(a: summ(price), b: sum(), c: percentile(price), d: price, e: sum(symbol), f: sum(price) where qty, g: count() + qty, count(), g: 1)`,
      ),
    ).toMatchInlineSnapshot(`
      "7:41 E070 unknown aggregate \`summ\` (did you mean \`sum\`?)
      7:57 E071 \`sum\` takes 1 argument, not 0
      7:67 E071 \`percentile\` takes 2 arguments, not 1
      7:89 E073 \`price\` is a field of each event, not of the aggregate (write last(price), or make it a key with .partition_by(price))
      7:99 E072 \`sum\` takes float or duration as \`e\`, not str
      7:132 E060 a condition is a bool, not int
      7:150 E073 \`qty\` is a field of each event, not of the aggregate (write last(qty), or make it a key with .partition_by(qty))
      7:155 E082 an argument of \`.aggregate\` needs a name (write \`name: count()\`)
      7:164 E081 \`g\` is given twice"
    `);
  });
  test('call behind a bare window is refused', () => {
    expect(problems(`${events}stream S = Tick.window(5m).emit(n: count(), s: sum(price))`)).toMatchInlineSnapshot(`
      "7:36 E073 the aggregate \`count\` cannot stand here (write \`.aggregate(n: ..)\` behind the window and read \`n\`)
      7:52 E073 the aggregate \`sum\` cannot stand here (write \`.aggregate(n: ..)\` behind the window and read \`n\`)"
    `);
  });
  test('having before it is refused, having without one is where', () => {
    expect(
      problems(`${events}stream S = Tick.having(n > 1).window(5m).aggregate(n: count())\nstream T = Tick.having(price > 1)`),
    ).toMatchInlineSnapshot(`
      "7:16 E010 \`.having\` stands before the \`.aggregate\` whose results it reads (write it behind \`.aggregate\`, or write \`.where\`)
      8:16 W043 there is no aggregate here, so \`.having\` means \`.where\` (write \`.where\`)"
    `);
  });
});

describe('the partition', () => {
  test('behind what it should key is warned about', () => {
    expect(
      problems(
        `${events}stream S = Tick.window(5m).partition_by(symbol).aggregate(n: count())\nstream T = Tick.where(ok).partition_by(symbol).window(5m)`,
      ),
    ).toMatchInlineSnapshot(`"7:27 W002 \`.partition_by\` stands behind \`.window\`, which it keys (write it before \`.window\`)"`);
  });
  test('must be readable at every operator that keeps state', () => {
    expect(problems(`${events}stream S = Tick.partition_by(symbol).select(price).limit(1)`)).toMatchInlineSnapshot(
      `"7:30 E034 unknown name \`symbol\`: the result of \`.select\` has no such field (it has \`price\`)"`,
    );
    expect(problems(`${events}stream S = Tick.partition_by(symbl)`)).toMatchInlineSnapshot(
      `"7:30 E034 unknown name \`symbl\`: event \`Tick\` has no such field (did you mean \`symbol\`?)"`,
    );
    expect(planned(`${events}stream S = Tick.select(sym: symbol, price).partition_by(sym).limit(1).emit(price)`)).toMatchInlineSnapshot(`
      "S
        from event Tick as Tick
        by sym=.sym
        select sym=.symbol, price=.price
        limit 1 per stream
        emit S price=.price
        = {price: float}"
    `);
    expect(planned(`${events}stream S = Tick.partition_by(lower(symbol)).window(5).aggregate(n: count()).limit(1)`)).toMatchInlineSnapshot(`
      "S
        from event Tick as Tick
        by lower(symbol)=lower(.symbol)
        window {kind:count,size:5,slide:null} [count()] n=#0
        limit 1 per stream by lower(symbol)=.lower(symbol)
        = {lower(symbol): str, n: int}"
    `);
  });
});

describe('limits and hygiene', () => {
  test('keep their bounds', () => {
    expect(
      planned(
        `${events}stream S = Tick.partition_by(symbol).limit(5).first().distinct().distinct(price, within: 1h).dedupe(qty, within: 5m).throttle(3, per: 1m)`,
      ),
    ).toMatchInlineSnapshot(`
      "S
        from event Tick as Tick
        by symbol=.symbol
        limit 5 per stream
        limit 1 per stream
        distinct all within null per stream
        distinct .price within 3600000 per stream
        dedupe .qty within 300000
        throttle 3 per 60000
        = {symbol: str, price: float, qty: int, ok: bool}"
    `);
    expect(
      problems(
        `${events}stream S = Tick.limit().limit(0).limit("a").limit(1.5).dedupe(price).dedupe(within: 5m).throttle(per: 1m).throttle(1, per: 5).first(1).distinct(price, qty)`,
      ),
    ).toMatchInlineSnapshot(`
      "7:16 E082 \`.limit\` needs an argument: how many pass
      7:31 E081 \`count\` must be a whole number of at least 1
      7:40 E081 \`count\` must be a whole number of at least 1
      7:51 E081 \`count\` must be a whole number of at least 1
      7:55 E082 \`.dedupe\` needs \`within:\`, how long repeats are held back, from the last one that passed
      7:69 E082 \`.dedupe\` needs an argument: what makes two alerts the same
      7:88 E082 \`.throttle\` needs an argument: how many may pass
      7:124 E061 a duration is needed here, not int (write a unit: 5s, 5m)
      7:133 E080 \`.first\` takes no argument without a name
      7:152 E080 \`.distinct\` takes one argument without a name (it also takes \`within:\`)"
    `);
  });
});

test('early results that come no sooner than the window ends are refused', () => {
  const program = (window: string): string => `event A: id: int\nstream S = A.window(${window}).aggregate(n: count()).emit(n: n)`;
  expect(problems(program('2s, early: 5s'))).toBe('2:13 E081 `early` must be shorter than the window: it gives results before the end');
  expect(problems(program('2s, early: 2s'))).toContain('E081');
  expect(problems(program('2s, early: 1s'))).toBe('');
});
