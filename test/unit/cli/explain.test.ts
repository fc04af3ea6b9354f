import { describe, expect, it } from 'vitest';
import { WorkFolder } from './work-folder.ts';

const folder = new WorkFolder();

folder.write(
  'rules.vpl',
  `event Login:
    user: str
    tries: int

stream Many = Login
    .where(tries > 3 and user != "root")
    .limit(1)
    .emit(user: user)

stream Followers = Many.where(user == "ann").emit()

stream Rising = Open as a -> Price where sym == a.sym and v > a.v as b -> Close where sym == a.sym as c
    .within(1m)
    .emit(sym: a.sym)

stream Breach = LoginFailed+ as f -> LoginOk as ok
    .within(10m)
    .partition_by(user)
    .emit(user: ok.user)

stream Silent = Ping as p -> NOT Pong where host == p.host within 5m
    .emit(host: p.host)

stream Safe = A where v > 0 as a -> B where k == a.k as b
    .not(Stop where k == a.k)
    .within(10s)
    .emit(k: a.k)

stream Any = A as a -> B as b
    .within(1m)
    .where(a.v < 5)
    .emit(k: a.k)

stream Minute = Sale
    .partition_by(shop)
    .window(1m)
    .aggregate(n: count(), total: sum(price))
    .having(n > 2)
    .emit(shop: shop, n: n)

stream Three = Sale
    .window(3)
    .emit()

stream Paid = join(Order, Payment)
    .on(Order.id == Payment.order and Payment.amount >= Order.amount)
    .window(1m)
    .emit(id: Order.id)

stream Later = join(A as a, B as b)
    .on(a.k == b.k and b.v > a.v)
    .window(10s)
    .emit(k: a.k)

stream Rows = join(X as x, Y as y, Z as z)
    .on(x.k == y.k and y.k == z.k and y.v > x.v and z.v > y.v)
    .window(10s)
    .emit(k: x.k)
`,
);

async function explain(events: string, ...args: readonly string[]): Promise<string> {
  folder.write('events.evt', events);
  const { exitCode, stdout, stderr } = await folder.cep(['explain', '-p', './rules.vpl', '-e', './events.evt', '--stream', ...args]);
  expect([exitCode, stderr.match(/error.*/)]).toEqual([0, null]);
  return stdout;
}

describe('cep explain of a pattern', () => {
  it('shows how far a run is, what it waits for, and by which values events failed, nearest first', async () => {
    const events = `
@0s Open { sym: "X", v: 50, v2: 1 }
@5s Price { sym: "X", v: 40 }
@9s Price { sym: "Y", v: 90 }
@9s Price { sym: "Y", v: 10 }
@9s Price { sym: "Z", v: 10 }
`;
    expect(await explain(events, 'Rising')).toMatchInlineSnapshot(`
      "Rising | @9s | 5 events in, 0 results out
        open run: 1 of 3 steps
          a = @0s Open { sym: "X", v: 50, v2: 1 }
        waits for
          Price where sym == a.sym and v > a.v as b, until @1m, 51s left
            @5s Price { sym: "X", v: 40 } did not fit: v (40) > a.v (50)
            @9s Price { sym: "Y", v: 90 } did not fit: sym ("Y") == a.sym ("X")
            @9s Price { sym: "Z", v: 10 } did not fit: sym ("Z") == a.sym ("X")
            and 1 more that did not fit
      "
    `);
  });

  it('takes the run that has taken most steps, of several the latest', async () => {
    const events = `
@0s Open { sym: "X", v: 50 }
@1s Open { sym: "Y", v: 50 }
@2s Price { sym: "X", v: 60 }
@3s Open { sym: "Z", v: 50 }
`;
    expect(await explain(events, 'Rising')).toMatchInlineSnapshot(`
      "Rising | @3s | 4 events in, 0 results out
        furthest of 3 open runs: 2 of 3 steps
          a = @0s Open { sym: "X", v: 50 }
          b = @2s Price { sym: "X", v: 60 }
        waits for
          Close where sym == a.sym as c, until @1m, 57s left
      "
    `);
  });

  it('tells of one key, and of closures that may go on', async () => {
    const events = `
@0s LoginFailed { user: "ann" }
@1s LoginFailed { user: "bob" }
@5s LoginFailed { user: "ann" }
`;
    expect(await explain(events, 'Breach', '--key', 'bob')).toMatchInlineSnapshot(`
      "Breach | key bob | @5s | 3 events in, 0 results out
        open run: 1 of 2 steps
          f = @1s LoginFailed { user: "bob" }
        waits for
          LoginOk as ok, until @10m1s, 9m56s left
          LoginFailed+ as f, 1 so far, until @10m1s, 9m56s left
      "
    `);
  });

  it('says of a key that never came which ones did', async () => {
    const events = '@0s LoginFailed { user: "anna" }\n@1s LoginFailed { user: "bob" }\n';
    expect(await explain(events, 'Breach', '--key', 'anne')).toMatchInlineSnapshot(`
      "Breach | key anne | @1s | 2 events in, 0 results out
        no event with key "anne" came; the nearest: "anna"
      "
    `);
    expect(await explain(events, 'Breach', '--key', 'zoe')).toMatchInlineSnapshot(`
      "Breach | key zoe | @1s | 2 events in, 0 results out
        no event with key "zoe" came; known: "anna", "bob"
      "
    `);
  });

  it('refuses a key where there is no partition', async () => {
    expect(await explain('@0s Open { sym: "X", v: 50 }', 'Rising', '--key', 'X')).toMatchInlineSnapshot(`
      "Rising | key X | @0s | 1 event in, 0 results out
        Rising has no partition: leave the key out
      "
    `);
  });

  it('shows an absence in force, its time left, and events that were none of it', async () => {
    expect(await explain('@0s Ping { host: "a" }\n@1m Pong { host: "b" }', 'Silent')).toMatchInlineSnapshot(`
      "Silent | @1m | 2 events in, 0 results out
        open run: 1 of 1 step
          p = @0s Ping { host: "a" }
        waits for
          NOT Pong where host == p.host within 5m, in force until @5m, 4m left
            @1m Pong { host: "b" } was no such event: host ("b") == p.host ("a")
      "
    `);
  });

  it('stops at a moment, and lets time go on to it', async () => {
    const events = '@0s Ping { host: "a" }\n@2m Pong { host: "a" }';
    expect(await explain(events, 'Silent', '--at', '90s')).toMatchInlineSnapshot(`
      "Silent | @1m30s | 1 event in, 0 results out
        open run: 1 of 1 step
          p = @0s Ping { host: "a" }
        waits for
          NOT Pong where host == p.host within 5m, in force until @5m, 3m30s left
      "
    `);
    expect(await explain(events, 'Silent')).toMatchInlineSnapshot(`
      "Silent | @2m | 2 events in, 0 results out
        no run is open; one begins with
          Ping as p
        last run that ended: 1 of 1 step, at @2m: NOT Pong where host == p.host within 5m forbids the event, by @2m Pong { host: "a" }
          p = @0s Ping { host: "a" }
      "
    `);
  });

  it('says when and why the last run ended: at its deadline, with what came too late', async () => {
    expect(await explain('@0s A { k: 1, v: 1 }\n@11s B { k: 1 }', 'Safe')).toMatchInlineSnapshot(`
      "Safe | @11s | 2 events in, 0 results out
        no run is open; one begins with
          A where v > 0 as a
        last run that ended: 1 of 2 steps, at @10s: its deadline passed
          a = @0s A { k: 1, v: 1 }
        waited for
          B where k == a.k as b, until @10s
            @11s B { k: 1 } did not fit: 1s too late
      "
    `);
  });

  it('says when and why the last run ended: by an event of .not', async () => {
    expect(await explain('@0s A { k: 1, v: 1 }\n@1s Stop { k: 2 }\n@2s Stop { k: 1 }', 'Safe')).toMatchInlineSnapshot(`
      "Safe | @2s | 3 events in, 0 results out
        no run is open; one begins with
          A where v > 0 as a
        last run that ended: 1 of 2 steps, at @2s: .not(Stop) cancels it, by @2s Stop { k: 1 }
          a = @0s A { k: 1, v: 1 }
      "
    `);
  });

  it('says when and why the last run ended: with a match, whose way it shows', async () => {
    expect(await explain('@0s A { k: 1, v: 1 }\n@2s B { k: 1 }', 'Safe')).toMatchInlineSnapshot(`
      "Safe | @2s | 2 events in, 1 result out
        no run is open; one begins with
          A where v > 0 as a
        last run that ended: 2 of 2 steps, at @2s: it matched, by @2s B { k: 1 }
          a = @0s A { k: 1, v: 1 }
          b = @2s B { k: 1 }
        last result: @2s Safe { a_k: 1, a_v: 1, b_k: 1, match_duration_ms: 2000 }
          emit(k: a.k) PASS
      "
    `);
    expect(await explain('@0s Ping { host: "a" }', 'Silent', '--at', '@6m')).toMatchInlineSnapshot(`
      "Silent | @6m | 1 event in, 1 result out
        no run is open; one begins with
          Ping as p
        last run that ended: 1 of 1 step, at @5m: it matched
          p = @0s Ping { host: "a" }
        last result: @5m Silent { p_host: "a", match_duration_ms: 300000 }
          emit(host: p.host) PASS
      "
    `);
  });

  it('tells the last of all matches, whether an event brought one or several', async () => {
    const before = ['@0s A { k: 1, v: 1 }', '@0s A { k: 2, v: 1 }', '@1s B { k: 1 }'];
    const last = async (...events: readonly string[]) => {
      const text = await explain([...before, ...events].join('\n'), 'Any');
      return text.split('\n').filter((line) => /last result|furthest/.test(line));
    };
    expect(await last()).toEqual(['  last result: @1s Any { a_k: 2, a_v: 1, b_k: 1, match_duration_ms: 1000 }']);
    const result = '  last result: @4s Any { a_k: 3, a_v: 1, b_k: 3, match_duration_ms: 1000 }';
    expect(await last('@3s A { k: 3, v: 1 }', '@4s B { k: 3 }')).toEqual([result]);
    expect(await last('@3s A { k: 3, v: 1 }', '@4s B { k: 3 }', '@5s B { k: 5 }')).toEqual([result]);
    expect(await last('@3s A { k: 3, v: 7 }', '@4s B { k: 3 }')).toEqual(['  what came furthest: @4s B { k: 3 }']);
  });

  it('says why no run began', async () => {
    expect(await explain('@0s A { k: 1, v: -1 }\n@2s B { k: 1 }', 'Safe')).toMatchInlineSnapshot(`
      "Safe | @2s | 2 events in, 0 results out
        no run is open; one begins with
          A where v > 0 as a
            @0s A { k: 1, v: -1 } did not fit: v (-1) > 0
      "
    `);
  });
});

describe('cep explain of a stream without a pattern', () => {
  const logins = `
@0s Login { user: "ann", tries: 5 }
@1s Login { user: "bob", tries: 7 }
@2s Login { user: "eve", tries: 1 }
`;

  it('shows how far the last event came, and the one that came furthest', async () => {
    expect(await explain(logins, 'Many')).toMatchInlineSnapshot(`
      "Many | @2s | 3 events in, 1 result out
        last event: @2s Login { user: "eve", tries: 1 }
          where(tries > 3 and user != "root") BLOCK tries (1) > 3
        what came furthest: @1s Login { user: "bob", tries: 7 }
          where(tries > 3 and user != "root") PASS
          limit(1) BLOCK it has passed 1 already
      "
    `);
  });

  it('says that nothing came, and from where', async () => {
    expect(await explain('@0s Other {}', 'Followers')).toMatchInlineSnapshot(`
      "Followers | @0s | 0 events in, 0 results out
        nothing came: no result of Many

      No alerts from 1 event:
        1 event of type Other, which no stream reads
      "
    `);
    expect(await explain('@0s Other {}', 'Rising')).toMatchInlineSnapshot(`
      "Rising | @0s | 0 events in, 0 results out
        nothing came: neither event Open nor event Price nor event Close

      No alerts from 1 event:
        1 event of type Other, which no stream reads
      "
    `);
  });

  it('shows open windows, when they close, what they hold so far, and what became of the last result', async () => {
    const events = `
@0s Sale { shop: "x", price: 5 }
@10s Sale { shop: "x", price: 5 }
@61s Sale { shop: "x", price: 7 }
@62s Sale { shop: "y", price: 8 }
`;
    expect(await explain(events, 'Minute', '--key', 'x')).toMatchInlineSnapshot(`
      "Minute | key x | @1m2s | 4 events in, 0 results out
        last event: @1m1s Sale { shop: "x", price: 7 }
          window(1m).aggregate(n: count(), total: sum(price)) HELD
        last result: @59s999ms Sale { n: 2, total: 10, shop: "x" }
          having(n > 2) BLOCK n (2) > 2
        open window of x: window(1m).aggregate(n: count(), total: sum(price)), @1m to @2m, holds 1 event, closes at @2m
          so far { n: 1, total: 7, shop: "x" }
      "
    `);
    expect(await explain(events, 'Three')).toMatchInlineSnapshot(`
      "Three | @1m2s | 4 events in, 3 results out
        last event: @1m2s Sale { shop: "y", price: 8 }
          window(3) HELD
        last result: @1m1s Sale { shop: "x", price: 7 }
          emit() PASS
        open window: window(3), since @1m2s, holds 1 event, 2 more events to a result
      "
    `);
  });

  it('shows what waits in a join, what the other side lacks, and why two events do not join', async () => {
    const order = '@0s Order { id: 1, amount: 10 }\n';
    expect(await explain(`${order}@5s Payment { order: 2, amount: 10 }`, 'Paid', '--key', '1')).toMatchInlineSnapshot(`
      "Paid | key 1 | @5s | 2 events in, 0 results out
        Order waits
          @0s Order { id: 1, amount: 10 }, until @1m
        Payment lacks: the last was @5s Payment { order: 2, amount: 10 }, key 2
      "
    `);
    expect(await explain(`${order}@5s Payment { order: 1, amount: 9 }`, 'Paid')).toMatchInlineSnapshot(`
      "Paid | key 1 | @5s | 2 events in, 0 results out
        Order waits
          @0s Order { id: 1, amount: 10 }, until @1m
        Payment waits
          @5s Payment { order: 1, amount: 9 }, until @1m5s
        @5s Payment { order: 1, amount: 9 } does not join: Payment.amount (9) >= Order.amount (10)
      "
    `);
    expect(await explain(`${order}@65s Payment { order: 1, amount: 10 }`, 'Paid')).toMatchInlineSnapshot(`
      "Paid | key 1 | @1m5s | 2 events in, 0 results out
        Order lacks: the last was @0s Order { id: 1, amount: 10 }, key 1
        Payment waits
          @1m5s Payment { order: 1, amount: 10 }, until @2m5s
        @1m5s Payment { order: 1, amount: 10 } does not join: 1m5s apart, more than 1m
      "
    `);
  });

  it('says why events do not join where earlier ones of the key did', async () => {
    const joined = '@0s A { k: 1, v: 5 }\n@1s B { k: 1, v: 9 }\n';
    expect(await explain(`${joined}@40s A { k: 1, v: 7 }\n@41s B { k: 1, v: 1 }`, 'Later')).toMatchInlineSnapshot(`
      "Later | key 1 | @41s | 4 events in, 1 result out
        a waits
          @40s A { k: 1, v: 7 }, until @50s
        b waits
          @41s B { k: 1, v: 1 }, until @51s
        @41s B { k: 1, v: 1 } does not join: b.v (1) > a.v (7)
      "
    `);
    expect(await explain(`@0s A { k: 1, v: 20 }\n@1s A { k: 1, v: 5 }\n@2s B { k: 1, v: 9 }`, 'Later')).toMatchInlineSnapshot(`
      "Later | key 1 | @2s | 3 events in, 1 result out
        a waits
          @0s A { k: 1, v: 20 }, until @10s
          @1s A { k: 1, v: 5 }, until @11s, has been joined
        b waits
          @2s B { k: 1, v: 9 }, until @12s, has been joined
        @0s A { k: 1, v: 20 } does not join: b.v (9) > a.v (20)
      "
    `);
    expect(await explain(joined, 'Later')).not.toContain('does not join');
    expect(await explain(`${joined}@30s C { k: 1 }`, 'Later')).not.toContain('does not join');
    const rows = '@0s X { k: 1, v: 1 }\n@1s Y { k: 1, v: 2 }\n@2s Z { k: 1, v: 3 }\n';
    expect(await explain(`${rows}@40s X { k: 1, v: 1 }\n@41s Y { k: 1, v: 2 }\n@42s Z { k: 1, v: 0 }`, 'Rows')).toMatchInlineSnapshot(`
      "Rows | key 1 | @42s | 6 events in, 1 result out
        x waits
          @40s X { k: 1, v: 1 }, until @50s
        y waits
          @41s Y { k: 1, v: 2 }, until @51s
        z waits
          @42s Z { k: 1, v: 0 }, until @52s
        @42s Z { k: 1, v: 0 } does not join: z.v (0) > y.v (2)
      "
    `);
  });
});

describe('cep explain', () => {
  it('gives the same as a line of JSON, with times as epoch milliseconds', async () => {
    const text = await explain('@0s Open { sym: "X", v: 50 }\n@5s Price { sym: "X", v: 40 }', 'Rising', '--json');
    expect(text.endsWith('\n')).toBe(true);
    expect(JSON.parse(text)).toMatchInlineSnapshot(`
      {
        "attempts": [],
        "events_in": 2,
        "events_out": 0,
        "furthest": null,
        "held_back": null,
        "input": {
          "events_incomplete": 0,
          "events_late": 0,
          "events_unread": 0,
          "incomplete_fields": [],
          "unread_types": [],
          "watermark": 5000,
        },
        "join": null,
        "key": null,
        "nothing": null,
        "pattern": {
          "begins": [],
          "ended": null,
          "ended_last": null,
          "furthest": {
            "held": [
              {
                "count": 1,
                "event": {
                  "fields": {
                    "sym": "X",
                    "v": 50,
                  },
                  "time": 0,
                  "type": "Open",
                },
                "name": "a",
              },
            ],
            "key": null,
            "steps": 3,
            "steps_taken": 1,
            "waits_for": [
              {
                "candidates": [
                  {
                    "event": {
                      "fields": {
                        "sym": "X",
                        "v": 40,
                      },
                      "time": 5000,
                      "type": "Price",
                    },
                    "problem": "v (40) > a.v (50)",
                    "values": {
                      "a.v": 50,
                      "v": 40,
                    },
                  },
                ],
                "closure": null,
                "deadline": 60000,
                "forgotten": 0,
                "is_absence": false,
                "left_ms": 55000,
                "step": "Price where sym == a.sym and v > a.v as b",
              },
            ],
          },
          "is_trend": false,
          "open_runs": 1,
        },
        "recorded": true,
        "stream": "Rising",
        "time": 5000,
        "windows": [],
      }
    `);
  });

  it('refuses a stream that the program has not, and a moment that is none', async () => {
    folder.write('events.evt', '');
    const files = ['explain', '-p', './rules.vpl', '-e', './events.evt'];
    expect(await folder.cep([...files, '--stream', 'Risin'])).toMatchInlineSnapshot(`
      {
        "exitCode": 1,
        "stderr": "error: the program has no stream 'Risin'
        hint: did you mean 'Rising'?
      ",
        "stdout": "",
      }
    `);
    expect(await folder.cep([...files, '--stream', 'Rising', '--at', 'noon'])).toMatchInlineSnapshot(`
      {
        "exitCode": 1,
        "stderr": "error: --at: expected an offset such as 90s or a timestamp, found 'noon'
      ",
        "stdout": "",
      }
    `);
  });

  it('counts what cannot be read and what is invalid, and explains what is left', async () => {
    folder.write('events.evt', '@0s Login { user: 5, tries: 1 }\n@1s ???\n@2s Login { user: "ann", tries: 1 }\n');
    const result = await folder.cep(['explain', '-p', './rules.vpl', '-e', './events.evt', '--stream', 'Many']);
    expect({ ...result, stderr: result.stderr.split('\n').slice(-3) }).toMatchInlineSnapshot(`
      {
        "exitCode": 1,
        "stderr": [
          "1 invalid event left out",
          "1 line cannot be read; cep simulate says which",
          "",
        ],
        "stdout": "Many | @2s | 1 event in, 0 results out
        last event: @2s Login { user: "ann", tries: 1 }
          where(tries > 3 and user != "root") BLOCK tries (1) > 3

      No alerts from 2 events:
        Unreadable lines:  1, first at events.evt:2:5
        Invalid events:    1, first at events.evt:1
      ",
      }
    `);
  });
});

describe('cep explain --plan', () => {
  it('shows how a program runs, without events, for people and as data', async () => {
    folder.write(
      'short.vpl',
      'event Login:\n    user: str\n    tries: int\nstream Many = Login.where(tries > 3).limit(1).emit(user: user)\n',
    );
    expect((await folder.cep(['explain', '-p', './short.vpl', '--plan'])).stdout).toMatchInlineSnapshot(`
      "events Login: columns tries
      └─ to Many: columns

      stream Many
      ├─ from Login: statements
      ├─ where(tries > 3): statements
      ├─ limit(1): rows, because it has no form in generated code
      └─ emit(user: user): rows
      "
    `);
    const { stdout } = await folder.cep(['explain', '-p', './short.vpl', '--plan', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ entries: [{ type: 'Login', form: 'columns' }], streams: [{ name: 'Many' }] });
  });

  it('needs events otherwise', async () => {
    const { exitCode, stderr } = await folder.cep(['explain', '-p', './rules.vpl']);
    expect([exitCode, stderr]).toEqual([1, 'error: explain needs --events\n  hint: or --plan, which shows how the program runs\n']);
  });

  it('goes on behind a look-up as simulate does, which looks nothing up either', async () => {
    folder.write(
      'asking.vpl',
      `event A:
    k: str

connector C = http (url: "http://127.0.0.1:1")

stream Known = A
    .enrich(C, key: k, fields: [tier], fallback: "none")
    .where(tier == "gold")
    .emit(k, tier)

stream Sure = A.enrich(C, key: k, fields: [tier]).where(tier == "gold").emit(k)

stream Vip = Known.where(k == "x").emit(k)
`,
    );
    folder.write('asked.evt', '@0s A { k: "x" }\n');
    const files = ['-p', './asking.vpl', '-e', './asked.evt'];
    const { stdout } = await folder.cep(['explain', ...files]);
    expect(stdout).toMatchInlineSnapshot(`
      "Known | @0s | 1 event in, 0 results out
        last event: @0s A { k: "x" }
          enrich(C, key: k, fields: [tier], fallback: "none") PASS
          where(tier == "gold") BLOCK tier ("none") == "gold"

      Sure | @0s | 1 event in, 0 results out
        last event: @0s A { k: "x" }
          enrich(C, key: k, fields: [tier]) FAIL look-up of x in C: nothing is looked up in C in this run

      Vip | @0s | 0 events in, 0 results out
        nothing came: no result of Known
      "
    `);
    const simulated = await folder.cep(['simulate', ...files]);
    expect(simulated.stdout.match(/^ {2}(Known|Sure|Vip): .*/gm)).toMatchInlineSnapshot(`
      [
        "  Known: A { k: "x" } at @0s was held back by where(tier == "gold"): tier ("none") == "gold"",
        "  Sure: A { k: "x" } at @0s failed in enrich(C, key: k, fields: [tier]): look-up of x in C: nothing is looked up in C in this run",
        "  Vip: nothing came: no result of Known",
      ]
    `);
  });

  it('explains every stream when none is named', async () => {
    folder.write('two.vpl', 'stream Large = Pay.where(v > 9).emit(v)\n\nstream Small = Pay.where(v < 1).emit(v)\n');
    folder.write('events.evt', '@0s Pay { v: 10 }\n@1s Pey { v: 20 }\n');
    const files = ['explain', '-p', './two.vpl', '-e', './events.evt'];
    const { exitCode, stdout } = await folder.cep(files);
    expect([exitCode, stdout.match(/^\w+ \|.*/gm)]).toEqual([
      0,
      ['Large | @1s | 1 event in, 1 result out', 'Small | @1s | 1 event in, 0 results out'],
    ]);
    expect(stdout).toContain('\nWithout effect:\n  1 event of type Pey, which no stream reads (did you mean Pay?)\n');
    const { stdout: lines } = await folder.cep([...files, '--json']);
    expect(
      lines
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).stream),
    ).toEqual(['Large', 'Small']);
    expect((await folder.cep([...files, '--key', 'x'])).stderr).toBe(
      'error: --key is of one stream: expected --stream\n  hint: its streams: Large, Small\n',
    );
  });

  it('says of a program without streams that it has none', async () => {
    folder.write('none.vpl', 'event Pay:\n    v: int\n');
    expect(await folder.cep(['explain', '-p', './none.vpl', '-e', './events.evt'])).toMatchObject({
      exitCode: 0,
      stdout: '',
      stderr: 'the program has no streams\n',
    });
  });
});
