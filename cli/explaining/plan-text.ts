import type {
  EntryNode,
  Execution,
  KernelNode,
  OperatorNode,
  PhysicalPlan,
  ReaderNode,
  StreamNode,
} from '../../worker/engine/physical/physical-plan.ts';

/** A line and what stands below it. */
interface Branch {
  readonly line: string;
  readonly below: readonly Branch[];
}

/** A physical plan as a tree, for people: a line for each choice, with its reason. */
export function planText({ entries, streams }: PhysicalPlan): string {
  const blocks = [...entries.map(entryBranch), ...alike(streams).flatMap(streamBranches)];
  return blocks
    .map((block) => `${block.line}\n${block.below.map((one, at) => printed(one, '', at === block.below.length - 1)).join('')}`)
    .join('\n');
}

function printed({ line, below }: Branch, indent: string, isLast: boolean): string {
  const inner = `${indent}${isLast ? '   ' : '│  '}`;
  const rest = below.map((one, at) => printed(one, inner, at === below.length - 1)).join('');
  return `${indent}${isLast ? '└─ ' : '├─ '}${line}\n${rest}`;
}

function entryBranch({ type, form, why, columns, placed, readers }: EntryNode): Branch {
  if (form === 'rows') return { line: `events ${type}: rows, because ${why}`, below: readers.map(readerBranch) };
  const named = columns.map((name) => (placed.includes(name) ? `${name} (by its place)` : name));
  return { line: `events ${type}: columns ${named.join(', ') || 'none'}`, below: readers.map(readerBranch) };
}

function readerBranch({ streams, form, why, index }: ReaderNode): Branch {
  const how = index === null ? form : `${form}, found by ${index.join(', ')}`;
  return { line: `to ${namesOf(streams)}: ${how}${why === null ? '' : `, because ${why}`}`, below: [] };
}

const NAMES_MAX = 6;

function namesOf(streams: readonly string[]): string {
  if (streams.length <= NAMES_MAX) return streams.join(', ');
  return `${streams.slice(0, NAMES_MAX - 1).join(', ')} and ${streams.length - NAMES_MAX + 1} more`;
}

/** Streams one after the other whose operators run in the same way, whatever constants are written in them. */
function alike(streams: readonly StreamNode[]): readonly StreamNode[][] {
  const groups: StreamNode[][] = [];
  let before = '';
  for (const stream of streams) {
    const form = formOf(stream);
    if (form === before) groups.at(-1)?.push(stream);
    else groups.push([stream]);
    before = form;
  }
  return groups;
}

function formOf({ source, operators, readers }: StreamNode): string {
  return JSON.stringify([source, operators.map(({ text, runs }) => [text.split('(')[0], runs]), readers]);
}

/** So many streams that are alike are shown as one. */
const ALIKE_MIN = 3;

function streamBranches(streams: readonly StreamNode[]): readonly Branch[] {
  if (streams.length < ALIKE_MIN) return streams.map((one) => streamBranch(one, `stream ${one.name}`));
  const [first] = streams as [StreamNode];
  return [streamBranch(first, `streams ${namesOf(streams.map(({ name }) => name))}, alike; ${first.name}:`)];
}

function streamBranch({ found, source, operators, readers }: StreamNode, line: string): Branch {
  const rows = found === null ? [] : [{ line: `found where ${found}`, below: [] }];
  return { line, below: [...rows, ...[source, ...operators].map(operatorBranch), ...readers.map(readerBranch)] };
}

function operatorBranch({ text, runs }: OperatorNode): Branch {
  const [only, ...others] = runs;
  if (only === undefined) return { line: text, below: [] };
  if (others.length === 0) return { line: `${text}: ${executionText(only)}`, below: kernelBranches(only) };
  return { line: text, below: runs.map((one) => ({ line: executionText(one), below: kernelBranches(one) })) };
}

function executionText(execution: Execution): string {
  if (execution.by === 'statements') return 'statements';
  if (execution.by === 'index') return 'decided by the index';
  const rows = execution.why === null ? 'rows' : `rows, because ${execution.why}`;
  if (execution.by === 'rows') return rows;
  const { kernel, form } = execution;
  return form === 'columns' ? `kernel, ${kernel.name}` : `kernel, ${kernel.name}, of whole ${rows}`;
}

function kernelBranches(execution: Execution): readonly Branch[] {
  return execution.by === 'kernel' ? factsOf(execution.kernel).map((line) => ({ line, below: [] })) : [];
}

function factsOf({ keys, keeps, sharedWith }: KernelNode): readonly string[] {
  return [
    ...(keys.length === 0 ? [] : [`found by ${keys.join(', ')}`]),
    ...(keeps.length === 0 ? [] : [`keeps ${keeps.join(', ')}`]),
    ...(sharedWith.length === 0 ? [] : [`shared with ${namesOf(sharedWith)}`]),
  ];
}
