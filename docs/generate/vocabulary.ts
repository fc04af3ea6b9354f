import { aggregateList, functionList } from '../../shared/language/functions/index.ts';
import { operators } from '../../shared/language/operators/table.ts';

/** The words of the language that an editor knows, each with what it means in one line. */
export function vocabularyJson(): string {
  const named = ({ name, summary }: { readonly name: string; readonly summary: string }): object => ({ name, summary });
  const functions = new Map([...aggregateList, ...functionList].map((one) => [one.name, named(one)]));
  return `${JSON.stringify({ operators: operators.map(named), functions: [...functions.values()] }, null, 2)}\n`;
}
