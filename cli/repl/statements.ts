/** The text of a program as its statements: each with the comments above it and everything indented below it. */
export interface Statement {
  /** What it declares; null of a statement without a name, as an import. */
  readonly name: string | null;
  readonly text: string;
}

const DECLARATION = /^(?:event|stream|pattern|connector|fn|const|var|let|type|test)\s+("[^"]*"|[A-Za-z_]\w*)/;
/** Such a line goes on with the statement before it, although it is not indented. */
const GOES_ON = /^(?:[)\]}.]|->|else\b|elif\b)/;

export function statementsOf(text: string): readonly Statement[] {
  const statements: string[][] = [];
  let comments: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const last = statements.at(-1);
    if (/^\s*$/.test(line) || /^(?:#|\/\/)/.test(line)) comments.push(line);
    else if (last !== undefined && (/^\s/.test(line) || GOES_ON.test(line) || hasOpenBracket(last.join('\n')))) {
      last.push(...comments, line);
      comments = [];
    } else {
      statements.push([...comments, line]);
      comments = [];
    }
  }
  return statements.map((lines) => ({ name: nameOf(lines), text: lines.join('\n').replace(/^\s*\n/, '') }));
}

/** The program with these statements in it: one that declares what another does stands in its place, the others at the end. */
export function withStatements(program: string, added: string): string {
  const statements = [...statementsOf(program)];
  for (const statement of statementsOf(added)) {
    const at = statement.name === null ? -1 : statements.findIndex(({ name }) => name === statement.name);
    if (at < 0) statements.push(statement);
    else statements[at] = statement;
  }
  return statements.map(({ text }) => `${text}\n`).join('\n');
}

/** Whether lines that were typed cannot be all: a block or a bracket is open, or something must follow. */
export function isUnfinished(lines: readonly string[]): boolean {
  const last = withoutComment(lines.at(-1) ?? '').trimEnd();
  return /^\s/.test(last) || /(?::|->|=|,|\b(?:and|or|not|where|as|within|AND|OR|NOT))$/.test(last) || hasOpenBracket(lines.join('\n'));
}

/** A line that only has a meaning behind the line before it. */
export function goesOn(line: string): boolean {
  return /^\s+\S/.test(line) || GOES_ON.test(line);
}

function nameOf(lines: readonly string[]): string | null {
  const first = lines.find((line) => !/^\s*(?:#|\/\/|$)/.test(line)) ?? '';
  return DECLARATION.exec(first)?.[1] ?? null;
}

function withoutComment(line: string): string {
  return line.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/(?:#|\/\/).*$/, '');
}

/** Whether more brackets open than close. */
export function hasOpenBracket(text: string): boolean {
  const code = text.split('\n').map(withoutComment).join('\n');
  const count = (pattern: RegExp): number => code.match(pattern)?.length ?? 0;
  return count(/[([{]/g) > count(/[)\]}]/g);
}
