import { describe, expect, test } from 'vitest';
import { problems } from '../checking.ts';
import { planned } from './plan-text.ts';

const events = `
event Order:
    id: int
    user: str
event Payment:
    order: int
    user: str
    amount: float
event Shipment:
    order: int
    at: timestamp
`;

describe('a join', () => {
  test('takes equalities between its sides as keys and keeps the rest as a residual', () => {
    expect(
      planned(
        `${events}stream J = join(Order, Payment).on(Order.id == Payment.order and amount > 5 and Payment.user == Order.user).window(5s).emit(id, total: Payment.amount)`,
      ),
    ).toMatchInlineSnapshot(`
      "J
        inner join within 5000
        side Order: event Order as Order key [.id, .user]
        side Payment: event Payment as Payment key [.order, .user]
        and ($1.amount > 5)
        emit J id=$0.id, total=$1.amount
        = {id: int, total: float}"
    `);
  });
  test('of three sides chains equalities', () => {
    expect(
      planned(
        `${events}stream J = join(Order, Payment, Shipment).on(Order.id == Payment.order and Payment.order == Shipment.order).window(1m).emit(id)`,
      ),
    ).toMatchInlineSnapshot(`
      "J
        inner join within 60000
        side Order: event Order as Order key [.id]
        side Payment: event Payment as Payment key [.order]
        side Shipment: event Shipment as Shipment key [.order]
        emit J id=$0.id
        = {id: int}"
    `);
    expect(
      planned(
        `${events}stream J = join(Order, Payment, Shipment).on(Order.id == Payment.order and Order.user == Payment.user).on(Payment.order == Shipment.order).on(Order.id == Shipment.order).window(1m).emit(id)`,
      ),
    ).toMatchInlineSnapshot(`
      "J
        inner join within 60000
        side Order: event Order as Order key [.id]
        side Payment: event Payment as Payment key [.order]
        side Shipment: event Shipment as Shipment key [.order]
        and ($0.user == $1.user)
        emit J id=$0.id
        = {id: int}"
    `);
    expect(
      planned(
        `${events}stream J = join(Order, Payment, Shipment).on(Order.id == Payment.order and Payment.amount == Shipment.order).window(1m).emit(id)`,
      ),
    ).toMatchInlineSnapshot(`
      "J
        inner join within 60000
        side Order: event Order as Order key []
        side Payment: event Payment as Payment key []
        side Shipment: event Shipment as Shipment key []
        and (($0.id == $1.order) and ($1.amount == $2.order))
        emit J id=$0.id
        = {id: int}"
    `);
  });
  test('with itself needs aliases', () => {
    expect(
      planned(`${events}stream J = join(Order as a, Order as b).on(a.user == b.user and a.id < b.id).window(1m).emit(x: a.id, y: b.id)`),
    ).toMatchInlineSnapshot(`
      "J
        inner join within 60000
        side a: event Order as a key [.user]
        side b: event Order as b key [.user]
        and ($0.id < $1.id)
        emit J x=$0.id, y=$1.id
        = {x: int, y: int}"
    `);
    expect(problems(`${events}stream J = join(Order, Order).on(Order.user == Order.user).window(1m).emit()`)).toMatchInlineSnapshot(
      `"12:24 E002 two sides of the join are called \`Order\` (give one an alias: \`Order as other\`)"`,
    );
  });
  test('reads a side also by the event type that it alone carries', () => {
    const program = `${events}stream Big = Payment.where(amount > 100)
stream J = join(stream A = Order.where(id > 0), Big .on(Order.id == Payment.order)).window(1m).emit(Order.id, Payment.amount, x: Big.user, y: A.user)`;
    expect(planned(program)).toMatchInlineSnapshot(`
      "Big
        from event Payment as Payment
        filter (.amount > 100)
        = {order: int, user: str, amount: float}
      J
        inner join within 60000
        side A: event Order as A | filter (.id > 0) key [.id]
        side Big: stream Big as Big key [.order]
        emit J id=$0.id, amount=$1.amount, x=$1.user, y=$0.user
        = {id: int, amount: float, x: str, y: str}"
    `);
    expect(
      problems(`${events}stream J = join(stream A = Order, stream B = Order).on(A.id == B.id and Order.id > 1).window(1m).emit(user)`),
    ).toMatchInlineSnapshot(`
      "12:73 E035 unknown alias \`Order\` (the aliases here: \`A\`, \`B\`)
      12:103 E034 \`user\` is a field of several sides of the join (write \`A.user\` or \`B.user\`)"
    `);
  });
  test('reads a side by the name and the alias it was given', () => {
    expect(
      planned(
        `${events}stream J = join(stream O = Order as o .where(o.id > O.id), Payment).on(O.id == Payment.order).window(1m).emit(o.user, x: O.id)`,
      ),
    ).toMatchInlineSnapshot(`
      "J
        inner join within 60000
        side O: event Order as O | filter (.id > .id) key [.id]
        side Payment: event Payment as Payment key [.order]
        emit J user=$0.user, x=$0.id
        = {user: str, x: int}"
    `);
  });
  test('gives followers and .emit() fields named after its sides', () => {
    expect(
      planned(
        `${events}stream J = left_join(Order, Payment).on(Order.id == Payment.order).window(1m)\nstream F = J.where(Order_id > 1).emit(Payment_amount)`,
      ),
    ).toMatchInlineSnapshot(`
      "J
        left join within 60000
        side Order: event Order as Order key [.id]
        side Payment: event Payment as Payment key [.order]
        = {Order_id: int, Order_user: str, Payment_order: int, Payment_user: str, Payment_amount: float}
      F
        from stream J as J
        filter (.Order_id > 1)
        emit F Payment_amount=.Payment_amount
        = {Payment_amount: float}"
    `);
  });
  test('is bounded by a duration, a number of events, or the newest of each key', () => {
    expect(
      planned(`${events}stream A = join(Order, Payment).on(Order.id == Payment.order).window(5s, policy: latest).emit(id)
stream B = join(Order, Payment).on(Order.id == Payment.order).window(2).emit(id)
stream C = full_join(Order, Payment).on(Order.id == Payment.order).emit(id)
stream D = join(Order, Payment).on(Order.id == Payment.order).window(5s, policy: "watermark").emit(id)`),
    ).toMatchInlineSnapshot(`
  "A
    inner join within 5000 latest
    side Order: event Order as Order key [.id]
    side Payment: event Payment as Payment key [.order]
    emit A id=$0.id
    = {id: int}
  B
    inner join within newest 2
    side Order: event Order as Order key [.id]
    side Payment: event Payment as Payment key [.order]
    emit B id=$0.id
    = {id: int}
  C
    full join within 60000
    side Order: event Order as Order key [.id]
    side Payment: event Payment as Payment key [.order]
    emit C id=$0.id
    = {id: int}
  D
    inner join within 5000
    side Order: event Order as Order key [.id]
    side Payment: event Payment as Payment key [.order]
    emit D id=$0.id
    = {id: int}"
`);
    expect(problems(`${events}stream C = join(Order, Payment).on(Order.id == Payment.order).emit(id)`)).toMatchInlineSnapshot(
      `"12:12 W037 the join has no window: partners may be up to 1m apart (write \`.window(1m)\` to say how far)"`,
    );
  });
  test('refuses windows of other forms, and what outer joins cannot keep', () => {
    const on = '.on(Order.id == Payment.order)';
    expect(
      problems(`${events}stream A = join(Order, Payment)${on}.window(5m, sliding: 1m).emit(id)
stream B = join(Order, Payment)${on}.window(session: 1m).emit(id)
stream C = left_join(Order, Payment)${on}.window(5s, policy: latest).emit(id)
stream D = full_join(Order, Payment)${on}.window(3).emit(id)
stream E = join(Order, Payment)${on}.window(policy: "newest").emit(id)
stream F = join(Order, Payment)${on}.window(5s).window(1m).aggregate(n: count()).emit(n)
stream G = join(Order, Payment).window(1m).emit(id)
stream H = Order.on(id == 1).emit(id)
stream I = join(Order, Payment).on(Order.id == Payment.order, user == "x").window(1m).emit(user)
stream L = join(Order, Payment).on(Order.id + 1).window(1m).emit(id)`),
    ).toMatchInlineSnapshot(`
  "12:74 E080 \`sliding\` means nothing for the window of a join
  13:70 E080 \`session\` means nothing for the window of a join
  14:67 E021 \`policy: latest\` and \`left_join\` exclude each other (which side stays unmatched would depend on what was replaced)
  15:67 E021 a window of a number of events and \`full_join\` exclude each other (which side stays unmatched would depend on what was replaced)
  16:62 E082 the window of a join needs a duration or a number of events
  16:78 E081 \`policy\` cannot be \`"newest"\` (it is one of \`watermark\`, \`latest\`)
  17:73 E012 this join has a window already (the first bounds the join; collect its results in a stream of their own: \`stream Next = This.window(..)\`)
  17:84 W001 without a window the aggregate runs over everything so far (put \`.window(..)\` before it if that is not meant)
  18:12 E082 a join needs \`.on(..)\` (write \`.on(Order.key == Payment.key)\`)
  19:17 E092 \`.on\` cannot stand here (it belongs to a join: \`join(A, B).on(A.k == B.k)\`)
  20:63 E080 \`.on\` takes one argument without a name
  20:92 E034 \`user\` is a field of several sides of the join (write \`Order.user\` or \`Payment.user\`)
  21:36 E060 a condition is a bool, not int"
`);
  });
  test('keys what follows by a partition read through its sides', () => {
    expect(
      planned(
        `${events}stream J = join(Order, Payment).on(Order.id == Payment.order).window(1m).partition_by(Order.user).aggregate(n: count()).limit(2).emit(n, user)`,
      ),
    ).toMatchInlineSnapshot(`
      "J
        inner join within 60000
        side Order: event Order as Order key [.id]
        side Payment: event Payment as Payment key [.order]
        by user=$0.user
        aggregate [count()] n=#0
        limit 2 per stream by user=.user
        emit J n=.n, user=.user
        = {n: int, user: str}"
    `);
  });
});
