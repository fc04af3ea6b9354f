import { type Document, parseDocument, type YAMLError } from 'yaml';

/** A YAML document with what is wrong in it first, in words of ours where the library would tell of its own insides. */
export interface YamlDocument {
  readonly document: Document;
  /** Null when nothing is. `offset` is where in the text. */
  readonly problem: { readonly message: string; readonly code: string; readonly offset: number } | null;
}

/** Never throws, however the text is nested. */
export function readYaml(text: string, options: Parameters<typeof parseDocument>[1] = {}): YamlDocument {
  const document = parseDocument(text, { ...options, prettyErrors: false });
  const error = document.errors[0] ?? document.warnings[0];
  return { document, problem: error === undefined ? null : problemOf(error) };
}

function problemOf({ code, message, pos: [offset] }: YAMLError): YamlDocument['problem'] {
  // The library met the end of the stack.
  if (code === 'RESOURCE_EXHAUSTION') return { message: 'the document is nested too deep', code: 'nested too deep', offset };
  return { message, code, offset };
}
