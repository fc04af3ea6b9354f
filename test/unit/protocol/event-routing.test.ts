import { describe, expect, it } from 'vitest';
import { isRouted } from '../../../shared/protocol/event-routing.ts';

describe('the types of a route', () => {
  it.each([
    [['Login'], 'Login', true],
    [['Login'], 'Logins', false],
    [['Log*'], 'Logins', true],
    [['Log*'], 'Lo', false],
    [['*'], 'Anything', true],
    [['A', 'B*'], 'Bee', true],
    [[], 'A', false],
  ])('%j take %s: %s', (types, type, expected) => expect(isRouted(types, type)).toBe(expected));
});
