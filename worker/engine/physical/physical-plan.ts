/**
 * The physical plan: how a program runs. The typed plan (`shared/language/plan`) says what a program means; this says what its
 * streams have become, and why. It is data alone: nothing in it can be called, and it depends on nothing but the program.
 *
 * Each part of a program takes its rows in one of these forms:
 *
 * - `columns`: a function of generated code is given what it reads of a row, value by value. No row exists.
 * - `rows`: an object with all fields of a row comes to an operator that was written by hand, or to a kernel that reads its columns
 *   from the row.
 *
 * State stands in kernels. One kernel serves all ways that lead to it, whatever form their rows have.
 */
export interface PhysicalPlan {
  /** By declared type: how its events come into the program. */
  readonly entries: readonly EntryNode[];
  /** In order of declaration. */
  readonly streams: readonly StreamNode[];
}

/** The form in which rows come. A batch of columns would be one more. */
export type InputForm = 'columns' | 'rows';

/** Events of a declared type, as they come in from outside. */
export interface EntryNode {
  readonly type: string;
  readonly form: InputForm;
  /** Why not by columns; null when they do. */
  readonly why: string | null;
  /** The fields that the program reads of them, in declared order. The others are checked and left where they are. */
  readonly columns: readonly string[];
  /** Those of the columns by whose text state is looked up: the place in which a reader keeps the text finds it. */
  readonly placed: readonly string[];
  readonly readers: readonly ReaderNode[];
}

/** Streams that take the rows of one origin. */
export interface ReaderNode {
  /** More than one where they are found by an index. */
  readonly streams: readonly string[];
  readonly form: InputForm;
  /** Why they take rows; null when they take columns. */
  readonly why: string | null;
  /** The columns by whose values the streams are found that a row may concern; null = each of them is asked. */
  readonly index: readonly string[] | null;
}

export interface StreamNode {
  readonly name: string;
  /** The rows that it is found for, where an index finds it among others; null = all come to it. */
  readonly found: string | null;
  /** What the stream begins with. */
  readonly source: OperatorNode;
  /** In written order. */
  readonly operators: readonly OperatorNode[];
  /** Who takes its results. */
  readonly readers: readonly ReaderNode[];
}

export interface OperatorNode {
  /** As it is written. */
  readonly text: string;
  /** One for each way in which it runs: rows of one origin may come by columns, those of another whole. */
  readonly runs: readonly Execution[];
}

/** What runs an operator or a source. */
export type Execution =
  /** Statements of the function that is given the row. */
  | { readonly by: 'statements' }
  /** The index that finds the stream: it finds it where this condition holds, and nowhere else. */
  | { readonly by: 'index' }
  /**
   * A kernel: state in a layout of its own, with generated code for what depends on the program. `why`: the reason for which it takes
   * whole rows, null when it takes columns.
   */
  | { readonly by: 'kernel'; readonly form: InputForm; readonly why: string | null; readonly kernel: KernelNode }
  /** An operator that takes rows. `why` null: one before it does. */
  | { readonly by: 'rows'; readonly why: string | null };

/** What a kernel keeps, and how it finds it. */
export interface KernelNode {
  /** The algorithm. */
  readonly name: string;
  /** By what its state is found; empty = there is one. */
  readonly keys: readonly string[];
  /** What it keeps for each key, or of each row. */
  readonly keeps: readonly string[];
  /** Streams that share it, when there are several. */
  readonly sharedWith: readonly string[];
}
