import { describe, expect, test } from 'vitest';
import { problems } from '../checking.ts';
import { boundSources, planned } from './plan-text.ts';

const events = `
event Login:
    user: str
    ip: str
event AdminLogin extends Login:
    level: int
event Payment:
    user: str
    amount: float
connector K = kafka (brokers: ["k1:9092"])
`;

describe('a source', () => {
  test('is an event type with the types that extend it, read bare or through its alias', () => {
    expect(planned(`${events}stream S = Login as l .where(l.user == user).emit(u: l.user)`)).toMatchInlineSnapshot(`
      "S
        from event Login|AdminLogin as Login
        filter (.user == .user)
        emit S u=.user
        = {u: str}"
    `);
  });
  test('is an undeclared event type, open and told once with the nearest name', () => {
    expect(problems(`${events}stream S = Logn.emit(x: anything)\nstream T = Logn.emit()\nstream U = Other.emit()`)).toMatchInlineSnapshot(`
      "11:12 W030 event type \`Logn\` is not declared (did you mean \`Login\`?)
      13:12 W030 event type \`Other\` is not declared (declare it: \`event Other:\` with its fields)"
    `);
    expect(planned('stream S = Open as o .where(o.a > b).emit()')).toMatchInlineSnapshot(`
      "S
        from event Open as Open
        filter (.a > .b)
        emit S all
        = any"
    `);
  });
  test('is a stream, whose results are what its last operator gives', () => {
    expect(planned(`${events}stream A = B.emit(v)\nstream B = Payment.select(v: amount * 2)`)).toMatchInlineSnapshot(`
      "A
        from stream B as B
        emit A v=.v
        = {v: float}
      B
        from event Payment as Payment
        select v=(.amount * 2)
        = {v: float}"
    `);
    expect(problems(`${events}stream B = Payment.select(v: amount)\nstream A = B.emit(amount)`)).toMatchInlineSnapshot(
      `"12:19 E034 unknown name \`amount\`: stream \`B\` has no such field (it has \`v\`)"`,
    );
  });
  test('is the late events of a stream or a branch of its fork', () => {
    const program = `${events}stream S = Payment.window(1m).fork(big: .where(amount > 9).select(b: amount), all: .select(user))
stream L = S.late.emit(amount)
stream B = S.big.emit(b)
stream Both = S.emit()`;
    expect(planned(program)).toMatchInlineSnapshot(`
      "S
        from event Payment as Payment
        window {kind:time,sizeMs:60000,slideMs:60000,offsetMs:0,align:epoch,earlyMs:null}
        fork
          big:
            filter (.amount > 9)
            select b=.amount
          all:
            select user=.user
        = {b: any, user: any}
      L
        from late S as late
        emit L amount=.amount
        = {amount: float}
      B
        from branch S.big as big
        emit B b=.b
        = {b: float}
      Both
        from stream S as S
        emit Both all
        = {b: any, user: any}"
    `);
  });
  test('that names no branch, no stream or nothing in an import is refused', () => {
    const program = `${events}stream S = Payment.fork(big: .where(amount > 9))
stream A = S.bug.emit()
stream B = Payment.late.emit()
stream C = nowhere.X.emit()
stream D = S.bigger.emit()
stream E = T.late.emit()
type Rec:
    a: int
stream F = Rec.emit()`;
    expect(problems(program)).toMatchInlineSnapshot(`
      "12:14 E033 stream \`S\` has no branch \`bug\` (did you mean \`S.big\`?)
      13:20 E033 \`Payment\` is no stream, and only a stream has late events
      14:12 E033 \`nowhere\` is neither an import nor a stream
      15:14 E033 stream \`S\` has no branch \`bigger\` (its branches are \`big\`)
      16:14 E033 \`T\` is no stream, and only a stream has late events
      19:12 E033 \`Rec\` is a type of values, not an event (declare \`event Rec:\` to use it as a source)"
    `);
  });
  test('may stand in an imported file', () => {
    const imports = {
      'common.vpl': 'event Ping:\n    n: int\nstream Pings = Ping.where(n > 0)\npattern P = Ping as a -> Ping as b within 1m',
    };
    expect(
      planned(
        'import "common.vpl" as common\nstream S = common.Pings.emit(n)\nstream T = common.Ping.emit()\nstream U = common.P.emit(n: a.n)',
        imports,
      ),
    ).toMatchInlineSnapshot(`
      "Pings
        from event Ping as Ping
        filter (.n > 0)
        = {n: int}
      S
        from stream Pings as Pings
        emit S n=.n
        = {n: int}
      T
        from event Ping as Ping
        emit T all
        = {n: int}
      U
        pattern P, next, longest, no_skip, within 60000
        ($0 -> $1)
        $0 a: event Ping as Ping
        $1 b: event Ping as Ping
        emit U n=$0.n
        = {n: int}"
    `);
    expect(problems('import "common.vpl" as common\nstream S = common.Pinsg.emit(n)', imports)).toMatchInlineSnapshot(
      `"2:12 E033 \`common\` declares no event, stream or pattern \`Pinsg\` (did you mean \`common.Ping\`?)"`,
    );
  });
  test('with the name of its own stream is the event of that name', () => {
    expect(planned(`${events}stream Payment = Payment.where(amount > 1).emit()\nstream After = Payment.emit()`)).toMatchInlineSnapshot(`
      "Payment
        from event Payment as Payment
        filter (.amount > 1)
        emit Payment all
        = {user: str, amount: float}
      After
        from stream Payment as Payment
        emit After all
        = {user: str, amount: float}"
    `);
  });
  test('late of a stream in which nothing waits for time is refused', () => {
    const program = `${events}stream S = Payment.where(amount > 1).distinct(user).emit()
stream W = Payment.fork(minutes: .window(1m).aggregate(n: count()), all: .select(user))
stream R = Payment.watermark(out_of_order: 5s).aggregate(n: count())
stream A = S.late.emit()
stream B = W.late.emit()
stream C = R.late.emit()`;
    expect(
      problems(program)
        .split('\n')
        .filter((line) => line.includes('E021')),
    ).toEqual([
      '14:12 E021 stream `S` has no window, aggregate, pattern or join, so nothing is late for it (read `S`, which takes every event, or the `.late` of the stream with the window)',
    ]);
  });
  test('late of a pattern or join needs out_of_order', () => {
    const program = `${events}stream P = Login as a -> Login as b .within(1m)
stream J = join(Login, Payment).on(Login.user == Payment.user).window(1m).watermark(out_of_order: 5s)
stream A = P.late.emit()
stream B = J.late.emit()`;
    expect(problems(program)).toMatchInlineSnapshot(
      `"13:12 E021 stream \`P\` is a pattern without \`out_of_order\`, so nothing is late for it (add \`.watermark(out_of_order: 10s)\` to \`P\`)"`,
    );
  });
});

describe('a cycle', () => {
  test('is told once, at its first stream', () => {
    expect(
      problems(`${events}stream A = C.where(x > 1)\nstream B = A.where(x > 1)\nstream C = B.where(x > 1).emit()\nstream D = A.emit()`),
    ).toMatchInlineSnapshot(
      `"11:8 E008 streams depend on each other: \`A\` needs \`C\` needs \`B\` needs \`A\` (a stream may feed itself only through a connector)"`,
    );
    expect(problems('stream A = A.emit()')).toMatchInlineSnapshot(
      `"1:8 E008 stream \`A\` depends on itself (a stream may feed itself only through a connector)"`,
    );
    expect(problems('stream A = B.late.emit()\nstream B = merge(X, A.where(v > 1)).emit()')).toMatchInlineSnapshot(`
      "1:8 E008 streams depend on each other: \`A\` needs \`B\` needs \`A\` (a stream may feed itself only through a connector)
      1:12 E021 stream \`B\` has no window, aggregate, pattern or join, so nothing is late for it (read \`B\`, which takes every event, or the \`.late\` of the stream with the window)
      2:18 W030 event type \`X\` is not declared (declare it: \`event X:\` with its fields)"
    `);
    expect(
      problems('pattern P = B as b -> C as c within 1m\nstream A = X as x -> Y as y .within(1m).not(B)\nstream B = P.emit()'),
    ).toMatchInlineSnapshot(`
      "1:23 W030 event type \`C\` is not declared (declare it: \`event C:\` with its fields)
      2:12 W030 event type \`X\` is not declared (declare it: \`event X:\` with its fields)
      2:22 W030 event type \`Y\` is not declared (declare it: \`event Y:\` with its fields)
      3:8 E008 stream \`B\` depends on itself (a stream may feed itself only through a connector)"
    `);
  });
});

describe('the type given by .emit as', () => {
  test('is not the source of other streams', () => {
    const program = `${events}stream A = Payment.emit as Login (user: user, ip: "x")
stream B = Login.emit()
fn f(a: float):
    emit AdminLogin(user: "u", ip: "i", level: 1)
stream C = Payment.process(f(amount))
stream D = AdminLogin.emit()
stream E = Payment.emit as Payment (user, amount)`;
    expect(problems(program)).toMatchInlineSnapshot(`
      "11:12 W036 \`Payment\` is emitted by stream \`E\`, whose results reach only streams that name \`E\` (write \`E\` to read them; \`Payment\` reads events from outside)
      12:12 W036 \`Login\` is emitted by stream \`A\`, whose results reach only streams that name \`A\` (write \`A\` to read them; \`Login\` reads events from outside)
      15:12 W036 \`Payment\` is emitted by stream \`E\`, whose results reach only streams that name \`E\` (write \`E\` to read them; \`Payment\` reads events from outside)
      16:12 W036 \`AdminLogin\` is emitted by stream \`C\`, whose results reach only streams that name \`C\` (write \`C\` to read them; \`AdminLogin\` reads events from outside)"
    `);
  });
});

describe('merge', () => {
  test('reads fields that any input has', () => {
    const program = `${events}stream M = merge(Login.where(ip != "x"), stream P = Payment.where(P.amount > 5).select(user, cost: amount), Other as o .filter(x => x.v > 1))
    .emit(user, ip, cost)`;
    expect(planned(program)).toMatchInlineSnapshot(`
      "M
        from event Login|AdminLogin as Login | filter (.ip != "x")
        from event Payment as P | filter (.amount > 5) | select user=.user, cost=.amount
        from event Other as o | filter (.v > 1)
        emit M user=.user, ip=.ip, cost=.cost
        = {user: any, ip: any, cost: any}"
    `);
  });
  test('takes operators on an input that act on single rows', () => {
    expect(
      problems(
        `${events}stream M = merge(Login.window(5m), Payment.emit(), Payment.wher(x), Payment.within(5s), P)\npattern P = Login as a -> Payment as b within 1m`,
      ),
    ).toMatchInlineSnapshot(`
      "11:23 E092 \`.window\` cannot stand on an input (declare a stream with it and name that here)
      11:43 E092 \`.emit\` cannot stand on an input (declare a stream with it and name that here)
      11:60 E091 there is no operator \`.wher\` (did you mean \`.where\`?)
      11:76 E020 \`.within\` needs a pattern, and this source is none (write a pattern (\`A as a -> B as b .within(10s)\`), or \`.window(10s)\`)
      11:89 E033 \`P\` is a pattern, not an event or stream (give its matches a stream: \`stream S = P\`, and name that)"
    `);
  });
});

describe('timer', () => {
  test('ticks with a period and a first delay', () => {
    expect(
      planned('stream T = timer(5s, initial_delay: 1s).emit(at: timestamp, type: event_type)\nstream U = timer(1m).emit()'),
    ).toMatchInlineSnapshot(`
      "T
        every 5000 after 1000 as Timer_T
        emit T at=@timestamp, type=@event_type
        = {at: timestamp, type: str}
      U
        every 60000 after null as Timer_U
        emit U all
        = {}"
    `);
  });
  test('needs a duration', () => {
    expect(
      problems(
        'stream A = timer(5).emit()\nstream B = timer().emit()\nstream C = timer(5s, initial: 1s).emit()\nstream D = timer(0s).emit()\nstream E = timer(5s, 1s).emit()\nstream F = timer(5s).emit(x: nothing)',
      ),
    ).toMatchInlineSnapshot(`
      "1:18 E061 a duration is needed here, not int (write a unit: 5s, 5m)
      2:12 E082 \`timer\` needs a period (write \`timer(5s)\`)
      3:22 E080 \`timer\` has no parameter \`initial\` (it takes \`initial_delay\`)
      4:18 E081 a timer needs a duration of more than 0s
      5:22 E080 \`timer\` takes one argument without a name (write \`initial_delay: 1s\`)
      6:30 E034 unknown name \`nothing\`: a tick of \`F\` has no such field"
    `);
  });
});

describe('from', () => {
  test('binds the event type once for equal bindings', () => {
    const program = `${events}connector M = mqtt (host: "h", topic: "base")
stream A = Login.from(K, topic: "logins").emit()
stream B = Payment.from(K, topic: "logins").emit()
stream C = Payment.partition_by(user).from(K, topic: "logins", group_id: "other").emit()
stream D = merge(Login.from(M), Payment.from(M, qos: 0)).emit()`;
    expect(boundSources(program)).toMatchInlineSnapshot(`
      "input <- null
      K/logins <- K{topic: logins} Login Payment
      K/logins#2 <- K{group_id: other, topic: logins} Payment
      M/base <- M Login
      M/base#2 <- M{qos: 0} Payment"
    `);
  });
  test('stands right behind an event type', () => {
    const program = `${events}stream A = Login.where(ip != "x").from(K, topic: "t").emit()
stream B = A.from(K, topic: "t").emit()
stream C = merge(Login, Payment).from(K, topic: "t").emit()
stream D = Login as a -> Payment as b .within(1m).from(K, topic: "t").emit()
stream E = Login.from(K).emit()
stream F = Login.from().emit()`;
    expect(problems(program)).toMatchInlineSnapshot(`
      "11:34 E092 \`.from\` cannot stand here (write it right behind an event type: \`X.from(..)\`)
      12:13 E092 \`.from\` reads an event type, and this source is none (name the event type: \`X.from(..)\`)
      13:33 E092 \`.from\` cannot stand here (write it right behind an event type: \`X.from(..)\`)
      14:50 E092 \`.from\` cannot stand here (write it right behind an event type: \`X.from(..)\`)
      15:17 E082 \`.from(K)\` needs a topic (write \`topic: "name"\`, or give the connector one)
      16:17 E082 \`.from\` needs an argument: a declared connector that gives events"
    `);
  });
  test('config mqtt is the default input and takes outputs that go nowhere else', () => {
    const program = `config mqtt {
    broker: "h",
    input_topic: "in/#",
    output_topic: "out"
}
${events}stream A = Login.emit(user)
stream B = Login.fork(x: .emit(user), y: .where(ip == "1"))
stream C = Login.emit(user).to(K, topic: "t")`;
    expect(boundSources(program)).toMatchInlineSnapshot(`"input <- mqtt_config{topic: in/#}"`);
    expect(planned(program)).toMatchInlineSnapshot(`
      "A
        from event Login|AdminLogin as Login
        emit A user=.user
        to mqtt_config "out"
        = {user: str}
      B
        from event Login|AdminLogin as Login
        fork
          x:
            emit B user=.user
            to mqtt_config "out"
          y:
            filter (.ip == "1")
        = {user: str, ip: any}
      C
        from event Login|AdminLogin as Login
        emit C user=.user
        to K "t"
        = {user: str}"
    `);
  });
});

describe('a declared result type', () => {
  test('gives followers what it declares, and takes durations as milliseconds', () => {
    expect(
      problems(
        'type R:\n    took: int\n    note: str?\nstream A: R = X.emit(took: 5s)\nstream B = A.where(note == null and took > 1).emit(took, other)',
      ),
    ).toMatchInlineSnapshot(`
      "4:15 W030 event type \`X\` is not declared (declare it: \`event X:\` with its fields)
      5:58 E034 unknown name \`other\`: stream \`A\` has no such field (it has \`took\`, \`note\`)"
    `);
  });
  test('must fit the results', () => {
    const program = `${events}type Sum:
    total: float
    note: str?
stream A: Sum = Payment.select(total: amount)
stream B: Sum = Payment.select(total: user)
stream C: Sum = Payment.select(x: 1)
stream D: int = Payment.select(x: 1)
stream E: Payment = Payment.where(amount > 1)
stream F: Payment = Open.where(a > 1)`;
    expect(problems(program)).toMatchInlineSnapshot(`
      "15:11 E062 field \`total\` of \`Sum\` is float, the results have str
      16:11 E062 the results have no field \`total\`, which \`Sum\` declares
      17:11 E062 the results of a stream are events, not int (name an event or a record type)
      19:21 W030 event type \`Open\` is not declared (declare it: \`event Open:\` with its fields)"
    `);
  });
});
