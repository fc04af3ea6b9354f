import { isUtf8 } from 'node:buffer';
import type { SourceMessage } from '../connector.ts';

const facilities =
  'kern user mail daemon auth syslog lpr news uucp cron authpriv ftp ntp audit alert clock local0 local1 local2 local3 local4 local5 local6 local7'.split(
    ' ',
  );
const levels = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'];
const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const DAY_MS = 86_400_000;

/** `<PRI>1 TIMESTAMP HOST APP PROCID MSGID`, then structured data and the message (RFC 5424). */
const header5424 = /^1 (\S+) (\S{1,255}) (\S{1,48}) (\S{1,128}) (\S{1,32}) ?/;
const time3164 = /^([A-Z][a-z]{2}) ([ \d]\d) (\d\d):(\d\d):(\d\d) /;
const tag3164 = /^([^\s[\]:]{1,48})(?:\[([^\]]{0,128})\])?: ?/;
const NIL = '-';
const MARK = '\uFEFF';

interface SyslogFields {
  readonly host?: string;
  readonly app?: string;
  readonly proc_id?: string;
  readonly msg_id?: string;
  /** Structured data: values by parameter, by element. */
  readonly structured?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly message: string;
}

interface Parsed {
  readonly timestamp?: string | undefined;
  readonly fields: SyslogFields;
}

/**
 * A message of syslog as one of a source: its parts as fields, in the form of RFC 5424 or of RFC 3164, which may lack all but the priority.
 * @param now Says the year of times that have none, which are taken as UTC, epoch ms.
 */
export function syslogMessage(bytes: Buffer, now: number): SourceMessage {
  if (!isUtf8(bytes)) return { bytes, problem: 'found bytes that are no UTF-8 text, expected a message of syslog' };
  const text = bytes.toString('utf8').replace(/[\r\n\0]+$/, '');
  const priority = /^<(\d{1,3})>/.exec(text);
  const code = Number(priority?.[1] ?? Number.NaN);
  if (priority === null || code > 191) return { bytes, problem: 'found no priority, expected <0> to <191> at the beginning of a message' };
  const rest = text.slice(priority[0].length);
  const parsed = rest.startsWith('1 ') ? parse5424(rest) : parse3164(rest, now);
  if (parsed === undefined) return { bytes, problem: 'found a message that says version 1 and does not follow RFC 5424' };
  const { timestamp, fields } = parsed;
  const data = { facility: facilities[code >> 3], level: levels[code & 7], severity: code & 7, ...fields };
  return { bytes: Buffer.from(JSON.stringify({ ...(timestamp === undefined ? {} : { timestamp }), data })) };
}

function parse5424(text: string): Parsed | undefined {
  const header = header5424.exec(text);
  if (header === null) return undefined;
  const [whole, time = NIL, host = NIL, app = NIL, procId = NIL, msgId = NIL] = header;
  const body = structuredData(text.slice(whole.length));
  if (body === undefined || (time !== NIL && Number.isNaN(Date.parse(time)))) return undefined;
  const named = Object.entries({ host, app, proc_id: procId, msg_id: msgId }).filter(([, value]) => value !== NIL);
  const { structured, message } = body;
  const fields = { ...Object.fromEntries(named), ...(structured === undefined ? {} : { structured }), message };
  return { fields, ...(time === NIL ? {} : { timestamp: time }) };
}

/** The elements `[id name="value" ..]` at the beginning, and the message behind them. */
function structuredData(text: string): Pick<SyslogFields, 'structured' | 'message'> | undefined {
  if (text === NIL || text.startsWith(`${NIL} `)) return { message: plain(text.slice(2)) };
  const structured: Record<string, Record<string, string>> = Object.create(null) as Record<string, Record<string, string>>;
  const element = /\[([^\s="\]]{1,32})((?: [^\s="\]]{1,32}="(?:[^"\\\]]|\\.)*")*)\]/suy;
  let end = 0;
  for (let found = element.exec(text); found !== null; found = element.exec(text)) {
    const [, id = '', parameters = ''] = found;
    structured[id] = Object.fromEntries(
      Array.from(parameters.matchAll(/ ([^\s="\]]+)="((?:[^"\\\]]|\\.)*)"/gsu), ([, name = '', value = '']) => [
        name,
        value.replace(/\\(["\\\]])/g, '$1'),
      ]),
    );
    end = element.lastIndex;
  }
  if (end === 0 || (end < text.length && text[end] !== ' ')) return undefined;
  return { structured, message: plain(text.slice(end + 1)) };
}

function plain(message: string): string {
  return message.startsWith(MARK) ? message.slice(1) : message;
}

/** Whatever does not look like the next part is the message. */
function parse3164(text: string, now: number): Parsed {
  const time = time3164.exec(text);
  if (time === null) return { fields: { message: text } };
  const behind = text.slice(time[0].length);
  const host = /^(\S{1,255}) /.exec(behind);
  const content = host === null ? behind : behind.slice(host[0].length);
  const tag = host === null ? null : tag3164.exec(content);
  const fields = {
    ...(host?.[1] === undefined ? {} : { host: host[1] }),
    ...(tag?.[1] === undefined ? {} : { app: tag[1] }),
    ...(tag?.[2] === undefined ? {} : { proc_id: tag[2] }),
    message: tag === null ? content : content.slice(tag[0].length),
  };
  return { fields, timestamp: timeOf(time, now) };
}

/** The year is that in which the time lies at most a day ahead. Undefined when there is no such time. */
function timeOf([, month = '', day = '', hour = '', minute = '', second = '']: RegExpExecArray, now: number): string | undefined {
  const at = months.indexOf(month);
  const year = new Date(now + DAY_MS).getUTCFullYear();
  for (const candidate of [year, year - 1]) {
    const ms = Date.UTC(candidate, at, Number(day), Number(hour), Number(minute), Number(second));
    const isReal = at >= 0 && new Date(ms).getUTCDate() === Number(day) && Number(hour) < 24 && Number(minute) < 60 && Number(second) < 61;
    if (isReal && ms <= now + DAY_MS) return new Date(ms).toISOString();
  }
  return undefined;
}
