import type { OperatorDescriptor } from './descriptor.ts';

/** Operators that decide the fields of what goes on, and what leaves the program. */
export const shapingOperators: readonly OperatorDescriptor[] = [
  {
    name: 'select',
    family: 'shaping',
    places: ['stream', 'input'],
    parameters: [],
    rest: { kind: 'expression', form: 'either', min: 1, summary: '`name: value`, or a field under its own name' },
    summary: 'Replaces the fields by the ones given',
    description: 'What follows sees these fields only; the time and the type of the event stay. Makes no output by itself.',
    example: {
      program:
        'event Tick:\n    symbol: str\n    price: float\n\nstream Cents = Tick\n    .select(symbol, cents: price * 100)\n    .emit()\n',
      events: 'Tick { symbol: "A", price: 1.5 }\n',
      outputs: ['Cents { symbol: "A", cents: 150 }'],
    },
  },
  {
    name: 'map',
    family: 'shaping',
    places: ['stream', 'input'],
    parameters: [{ name: 'function', kind: 'lambda', positional: true, required: true, summary: 'from the event to a map' }],
    summary: 'Replaces the fields by the members of a map',
    description: 'The lambda sees the event as its parameter, its fields also bare. A value that is no map is an evaluation failure.',
    example: {
      program:
        'event Tick:\n    symbol: str\n    price: float\n\nstream Pairs = Tick\n    .map(t => {name: lower(t.symbol), twice: t.price * 2})\n    .emit()\n',
      events: 'Tick { symbol: "A", price: 1.5 }\n',
      outputs: ['Pairs { name: "a", twice: 3 }'],
    },
  },
  {
    name: 'emit',
    family: 'shaping',
    places: ['stream'],
    parameters: [{ name: 'context', kind: 'context', summary: 'the declared context that followers run on' }],
    rest: { kind: 'expression', form: 'either', min: 0, summary: '`name: value`, or a field under its own name' },
    summary: 'Makes an output event with these fields',
    description:
      'The output has the type of the stream, or `T` with `.emit as T (..)`. `.emit()` gives all fields: the declared ones (null when absent) ' +
      'and extra ones; behind `.aggregate` the aggregates and the keys; on a match `<alias>_<field>` and `match_duration_ms`. A null value is ' +
      'emitted as null. What follows in the chain, and streams that name this one, see the emitted fields.',
    example: {
      program:
        'event Login:\n    user: str\n    ok: bool\n\nevent Refusal:\n    who: str\n\nstream Refused = Login\n    .where(not ok)\n    .emit as Refusal (who: user)\n',
      events: 'Login { user: "ann", ok: true }\nLogin { user: "bob", ok: false }\n',
      outputs: ['Refusal { who: "bob" }'],
    },
  },
];
