/** Characters of one value that a line of text shows. */
const valueCharsMax = 2_000;

/**
 * A JSON log line as text: `<time> <LEVEL> <message> <field>=<value> ..`. Whatever a value holds, the line stays one line and
 * moves no cursor: control characters and marks that turn the direction of text are escaped.
 */
export function logText(line: string): string {
  const { time, level, message, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const head = [time, String(level).toUpperCase().padEnd(5), visible(String(message))].filter((part) => part !== undefined).join(' ');
  const rest = Object.entries(fields).map(([name, value]) => ` ${visible(name)}=${shown(value)}`);
  return `${head}${rest.join('')}\n`;
}

/** A line as the logger writes it in JSON, for what there is to say before there is one, or behind its end. */
export function logLine(level: 'warn' | 'error', message: string, fields: object = {}): string {
  return `${JSON.stringify({ level, time: new Date().toISOString(), ...fields, message })}\n`;
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const cut = text.length > valueCharsMax ? `${text.slice(0, valueCharsMax)}..` : text;
  return typeof value === 'string' && !/^[^\s"=\p{C}]+$/u.test(cut) ? visible(JSON.stringify(cut)) : visible(cut);
}

/** The text as one line, whatever it holds. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${(char.codePointAt(0) as number).toString(16)}}`);
}
