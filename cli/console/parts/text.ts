/** Numbers, times and values as people read them. */
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

export function countText(value: number): string {
  return value >= 1_000_000 ? short.format(value) : whole.format(value);
}

export function rateText(perSecond: number | undefined): string {
  if (perSecond === undefined) return '–';
  if (perSecond === 0) return '0/s';
  if (perSecond < 10) return `${perSecond < 0.1 ? perSecond.toFixed(2) : perSecond.toFixed(1)}/s`;
  return `${perSecond >= 10_000 ? short.format(perSecond) : whole.format(perSecond)}/s`;
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** The two largest units: `2 h 5 min`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return ms < 1 ? '0 s' : `${Math.round(ms)} ms`;
  const parts: string[] = [];
  let rest = ms;
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0 || parts.length > 0) parts.push(`${count} ${unit}`);
    if (parts.length === 2) break;
  }
  return parts.filter((part) => !part.startsWith('0 ')).join(' ');
}

export function agoText(timeMs: number, nowMs = Date.now()): string {
  const ms = nowMs - timeMs;
  return Math.abs(ms) < 1_000 ? 'now' : ms < 0 ? `in ${durationText(-ms)}` : `${durationText(ms)} ago`;
}

export function bytesText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  const size = ['KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes / 1_024;
  let at = 0;
  while (value >= 1_024 && at < size.length - 1) {
    value /= 1_024;
    at++;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${size[at]}`;
}

const day = new Intl.DateTimeFormat('sv', { dateStyle: 'short' });
const clock = new Intl.DateTimeFormat('sv', { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 });

/** Local time; the day only when it is not today. */
export function timeText(timeMs: number): string {
  const date = new Date(timeMs);
  if (Number.isNaN(date.getTime())) return String(timeMs);
  const time = clock
    .format(date)
    .replace(',', '.')
    .replace(/\.000$/, '');
  const on = day.format(date);
  return on === day.format(new Date()) ? time : `${on} ${time}`;
}

export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}
