import { expect, it } from 'vitest';
import { withQuestionMarks } from '../../../worker/connectors/database/mysql-database.ts';

it.each([
  ['select a from t where id = $1', ['k'], 'select a from t where id = ?', ['k']],
  ['select $2, $1, $1', ['a', 'b'], 'select ?, ?, ?', ['b', 'a', 'a']],
  [
    "select '$1', \"it''s $1\", `$1` from t -- $1\nwhere id = $1 /* $1 */",
    ['k'],
    "select '$1', \"it''s $1\", `$1` from t -- $1\nwhere id = ? /* $1 */",
    ['k'],
  ],
  ["select 'a\\'$1' = $1", ['k'], "select 'a\\'$1' = ?", ['k']],
])('puts the values of %j where they stand, and leaves texts and names alone', (text, values, marked, placed) => {
  expect(withQuestionMarks(text, values)).toEqual({ text: marked, values: placed });
});
