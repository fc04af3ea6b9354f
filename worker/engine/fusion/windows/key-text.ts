import { InvariantError } from '../../../../shared/errors/error.ts';
import type { Value } from '../../../../shared/events/value.ts';

/** The values of a key of scalars, from the canonical text that `keyOf` makes of them; `parts` is how many there are. */
export function valuesOfKey(text: string, parts: number): Value[] {
  if (parts === 0) return [];
  if (parts === 1 && text.startsWith('s')) return [text.slice(1)];
  const values: Value[] = [];
  let rest = parts === 1 ? text : text.slice(text.indexOf('(') + 1);
  while (rest !== '') {
    const [value, length] = firstPart(rest);
    values.push(value);
    rest = rest.slice(length);
  }
  return values;
}

function firstPart(text: string): readonly [value: Value, length: number] {
  switch (text[0]) {
    case 's': {
      const from = text.indexOf(':') + 1;
      const to = from + Number(text.slice(1, from - 1));
      return [text.slice(from, to), to];
    }
    case 'n': {
      const end = text.indexOf(';');
      return [Number(text.slice(1, end)), end + 1];
    }
    case 'T':
    case 'F':
      return [text[0] === 'T', 1];
    case 'N':
      return [null, 1];
    default:
      throw new InvariantError(`a key of scalars is not ${JSON.stringify(text)}`);
  }
}
