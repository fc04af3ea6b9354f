/** What some brokers have in front of a filter, which says how messages are given and not which. */
const PREFIX = /^\$(?:share\/[^/]+|queue|exclusive)\//;

/** Whether a subscription of the filter brings messages of the topic: `+` stands for one level, `#` for all that follow, and for none. */
export function isMatch(filter: string, topic: string): boolean {
  const wanted = filter.replace(PREFIX, '').split('/');
  const levels = topic.split('/');
  for (const [at, level] of wanted.entries()) {
    if (level === '#') return true;
    if (levels[at] === undefined || (level !== '+' && level !== levels[at])) return false;
  }
  return levels.length === wanted.length;
}
