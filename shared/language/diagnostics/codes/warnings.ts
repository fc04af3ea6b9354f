import { LOGIN, ORDER, PAYMENT, program, warning } from './descriptor.ts';

/** Codes of programs that run, and may not do what was meant. */
export const WARNING_CODES = {
  W001: warning({
    title: 'unbounded running aggregate',
    explanation: 'Without a window the aggregate goes over everything so far and gives one result per event.',
    example: program(ORDER, 'stream Totals = Order.aggregate(total: sum(amount)).emit(total: total)'),
    fix: program(ORDER, 'stream Totals = Order.window(5m).aggregate(total: sum(amount)).emit(total: total)'),
  }),
  W002: warning({
    title: 'partition_by after the operator it keys',
    explanation: 'The key applies to the whole stream, wherever `.partition_by` stands; it reads best in front.',
    example: program(ORDER, 'stream Totals = Order.window(5m).partition_by(id).aggregate(total: sum(amount)).emit(id: id, total: total)'),
    fix: program(ORDER, 'stream Totals = Order.partition_by(id).window(5m).aggregate(total: sum(amount)).emit(id: id, total: total)'),
  }),
  W003: warning({
    title: 'unbounded pattern',
    explanation: 'Without `within` or an expiring partition, open runs stay until the state budget drops them.',
    example: program(LOGIN, 'stream Seen = Login as a -> Login where user == a.user as b', '    .emit(first: a.ip, second: b.ip)'),
    fix: program(
      LOGIN,
      'stream Seen = Login as a -> Login where user == a.user as b',
      '    .within(1h)',
      '    .emit(first: a.ip, second: b.ip)',
    ),
  }),
  W030: warning({
    title: 'event type not declared',
    explanation: 'The fields of an undeclared event are of any type and can only be checked when the program runs.',
    example: program('stream Seen = Login.where(attempts > 3).emit()'),
    fix: program(LOGIN, 'stream Seen = Login.where(attempts > 3).emit()'),
  }),
  W031: warning({
    title: 'emit as an undeclared type',
    explanation: 'The fields of an undeclared type cannot be checked.',
    example: program(LOGIN, 'stream Seen = Login.emit as Suspicion (user: user)'),
    fix: program(LOGIN, 'event Suspicion: user: str', 'stream Seen = Login.emit as Suspicion (user: user)'),
  }),
  W032: warning({
    title: 'enrich without fields',
    explanation: 'Without `fields` all that was looked up is added, and its types are not known.',
    example: program(
      LOGIN,
      'connector Users = http (url: "https://users.example.com")',
      'stream Seen = Login.enrich(Users, key: user).emit()',
    ),
    fix: program(
      LOGIN,
      'connector Users = http (url: "https://users.example.com")',
      'stream Seen = Login.enrich(Users, key: user, fields: ["role"]).emit()',
    ),
  }),
  W034: warning({
    title: 'field shadows a program value',
    explanation: 'A name is both a field of the event and a value of the program; here it is the field.',
    example: program(LOGIN, 'const attempts = 3', 'stream Seen = Login.where(attempts > 2).emit()'),
    fix: program(LOGIN, 'const LIMIT = 3', 'stream Seen = Login.where(attempts > LIMIT).emit()'),
  }),
  W035: warning({
    title: 'alias reads the candidate',
    explanation:
      "In a closure's `where` the own alias is the previous capture, but in a comparison without any bare field it is the event being looked at.",
    example: program(
      ORDER,
      'stream Big = Order as a -> Order+ where b.amount > a.amount as b',
      '    .within(5m)',
      '    .emit(count: count(b), id: a.id)',
    ),
    fix: program(
      ORDER,
      'stream Big = Order as a -> Order+ where amount > a.amount as b',
      '    .within(5m)',
      '    .emit(count: count(b), id: a.id)',
    ),
  }),
  W036: warning({
    title: 'type of another stream as a source',
    explanation: 'Results of `.emit as T` reach only streams that name the emitting stream, so nothing arrives here by that name.',
    example: program(
      LOGIN,
      'event Suspicion: user: str',
      'stream Seen = Login.emit as Suspicion (user: user)',
      'stream Again = Suspicion.emit(who: user)',
    ),
    fix: program(
      LOGIN,
      'event Suspicion: user: str',
      'stream Seen = Login.emit as Suspicion (user: user)',
      'stream Again = Seen.emit(who: user)',
    ),
  }),
  W037: warning({
    title: 'join without a window',
    explanation: 'Without `.window` the sides meet within one minute.',
    example: program(ORDER, PAYMENT, 'stream Paid = join(Order, Payment).on(Order.id == Payment.id).emit(id: Order.id)'),
    fix: program(ORDER, PAYMENT, 'stream Paid = join(Order, Payment).on(Order.id == Payment.id).window(5m).emit(id: Order.id)'),
  }),
  W038: warning({
    title: 'config block',
    explanation: 'Settings stand in the configuration file; only `config mqtt` still declares a connector.',
    example: program(LOGIN, 'config engine:', '    threads: 2', 'stream Seen = Login.emit()'),
    fix: program(LOGIN, 'stream Seen = Login.emit()'),
  }),
  W039: warning({
    title: 'connector that this build has not',
    explanation:
      'The language knows the type of the connector, and this build cannot use it so: a server refuses the program when it is deployed. ' +
      'Simulations and tests connect nothing and run all the same.',
    example: program(LOGIN, 'connector Bus = nats (servers: "nats://n1:4222")', 'stream Seen = Login.emit().to(Bus, topic: "seen")'),
    fix: program(LOGIN, 'connector Hook = http (url: "https://example.com/hook")', 'stream Seen = Login.emit().to(Hook)'),
  }),
  W040: warning({
    title: 'unused',
    explanation: 'Nothing refers to a stream without effects of its own, a function, a pattern, a type, or an alias.',
    example: program(LOGIN, 'stream Often = Login.where(attempts > 3)'),
    fix: program(LOGIN, 'stream Often = Login.where(attempts > 3).emit()'),
  }),
  W041: warning({
    title: 'topic taken from the stream name',
    explanation: 'Neither `.to` nor the connector names a topic, so the name of the stream is used.',
    example: program(LOGIN, 'connector Bus = kafka (brokers: ["k1:9092"])', 'stream Seen = Login.to(Bus)'),
    fix: program(LOGIN, 'connector Bus = kafka (brokers: ["k1:9092"])', 'stream Seen = Login.to(Bus, topic: "seen")'),
  }),
  W042: warning({
    title: 'now() is event time',
    explanation: '`now()` is the time of the current event or result, so that a replay gives the same outputs.',
    example: program(LOGIN, 'stream Seen = Login.emit(user: user, at: now())'),
    fix: program(LOGIN, 'stream Seen = Login.emit(user: user, at: timestamp)'),
  }),
  W043: warning({
    title: 'having without an aggregate',
    explanation: 'Without an aggregate `.having` is `.where`.',
    example: program(LOGIN, 'stream Seen = Login.having(attempts > 3).emit()'),
    fix: program(LOGIN, 'stream Seen = Login.where(attempts > 3).emit()'),
  }),
  W047: warning({
    title: 'model cannot be scored here',
    explanation: 'This build has no runtime for the model of `.score`, or not the model; its hints about hardware have no effect.',
    example: program(LOGIN, 'stream Scored = Login.score(model: "m.onnx", inputs: [attempts], outputs: ["risk"]).emit()'),
    fix: program(LOGIN, 'fn risk(n: int): n / 10', 'stream Scored = Login.emit(user: user, risk: risk(attempts))'),
  }),
  W048: warning({
    title: 'not of the last step',
    explanation: '`.not(T)` where T is the last step cancels the very run that T would complete.',
    example: program(
      ORDER,
      PAYMENT,
      'stream Paid = Order as a -> Payment as b',
      '    .within(5m)',
      '    .not(Payment)',
      '    .emit(first: a.id, second: b.id)',
    ),
    fix: program(ORDER, PAYMENT, 'stream Unpaid = Order as a -> NOT Payment where id == a.id within 5m', '    .emit(id: a.id)'),
  }),
  W049: warning({
    title: 'trailing optional step',
    explanation: 'A pattern matches at once without an optional last step, so that step never captures anything.',
    example: program(
      ORDER,
      PAYMENT,
      'stream Paid = Order as a -> Payment as b -> Order? as c',
      '    .within(5m)',
      '    .emit(first: a.id, second: b.id, third: c.id)',
    ),
    fix: program(ORDER, PAYMENT, 'stream Paid = Order as a -> Payment as b', '    .within(5m)', '    .emit(first: a.id, second: b.id)'),
  }),
  W050: warning({
    title: "step meets its cause's own row",
    explanation:
      'A stream behind a step also gets a row of that very event, and a cause comes before its effects: the row comes right behind the ' +
      'event, so it ends an absence at once, and is the first that a step sees.',
    example: program(
      LOGIN,
      'event Logout: user: str',
      'stream Activity = merge(Login, Logout)',
      'stream Gone = Logout as o -> NOT Activity where user == o.user within 10m',
      '    .emit(user: o.user)',
    ),
    fix: program(
      LOGIN,
      'event Logout: user: str',
      'stream Activity = merge(Login, Logout)',
      'stream Gone = Activity where event_type == "Logout" as o -> NOT Activity where user == o.user within 10m',
      '    .emit(user: o.user)',
    ),
  }),
  W051: warning({
    title: 'count that is never zero',
    explanation: 'An empty window gives no result, so `count()` behind a window is at least 1. What did not happen is found by a `NOT`.',
    example: program(LOGIN, 'stream Silent = Login.partition_by(user).window(5m).aggregate(n: count()).where(n == 0).emit(user: user)'),
    fix: program(LOGIN, 'stream Silent = Login as a -> NOT Login where user == a.user within 5m', '    .emit(user: a.user)'),
  }),
  W052: warning({
    title: 'undeclared field in a test',
    explanation:
      'An event of a test has a field that its type does not declare. It is kept, but nothing that reads the declared fields sees it.',
    example: program(LOGIN, 'stream Seen = Login.emit(user: user)', 'test "seen":', '    at 0s Login { usr: "ann" }', '    expect Seen'),
    fix: program(LOGIN, 'stream Seen = Login.emit(user: user)', 'test "seen":', '    at 0s Login { user: "ann" }', '    expect Seen'),
  }),
  W053: warning({
    title: 'nothing to act on',
    explanation:
      '`.each()`, `.longest()` and `.subsets()` say which matches a closure gives. A pattern in which no step repeats has one match.',
    example: program(
      LOGIN,
      'stream Twice = Login as a -> Login where user == a.user as b',
      '    .within(5m)',
      '    .longest()',
      '    .emit(first: a.ip, second: b.ip)',
    ),
    fix: program(
      LOGIN,
      'stream Often = Login as a -> Login+ where user == a.user as b',
      '    .within(5m)',
      '    .longest()',
      '    .emit(first: a.ip, others: count(b))',
    ),
  }),
  W054: warning({
    title: "field with the name of the event's own column",
    explanation:
      'A table keeps the id, the type and the time of each event in the columns `id`, `event_type` and `timestamp`. A field of one of these ' +
      'names has no column of its own: it stands in `data`, and nowhere when the table has no such column.',
    example: program(
      ORDER,
      'connector Table = postgres (url: "postgres://cep@db.example.com/shop", table: "orders")',
      'stream Large = Order.where(amount > 100).emit(id: id, amount: amount).to(Table)',
    ),
    fix: program(
      ORDER,
      'connector Table = postgres (url: "postgres://cep@db.example.com/shop", table: "orders")',
      'stream Large = Order.where(amount > 100).emit(order_id: id, amount: amount).to(Table)',
    ),
  }),
} as const;
