import { useEffect, useState } from 'preact/hooks';
import { link } from '../service/link.ts';
import { ask } from '../service/requests.ts';
import { useStore } from '../service/use-store.ts';
import { timeText } from './text.ts';

const tryEveryMs = 1_000;
const goodNewsMs = 6_000;

/** Says when the server is away, tries until it is back, and says that too. */
export function LinkBanner() {
  const now = useStore(link);
  const [wasAway, setWasAway] = useState(false);
  const isAway = now.state === 'lost' || now.state === 'unready';
  useEffect(() => {
    if (!isAway) return;
    setWasAway(true);
    const timer = setInterval(() => {
      if (!document.hidden) void ask('/ready').catch(() => undefined); // What it is, the link says.
    }, tryEveryMs);
    return () => clearInterval(timer);
  }, [isAway]);
  useEffect(() => {
    if (isAway || !wasAway) return;
    const timer = setTimeout(() => setWasAway(false), goodNewsMs);
    return () => clearTimeout(timer);
  }, [isAway, wasAway]);
  return (
    <div class="link-banner" role="status">
      {now.state === 'lost' && (
        <p class="bad">Connection lost at {timeText(now.sinceMs)}: what you see is from then. Trying again every second.</p>
      )}
      {now.state === 'unready' && <p class="warn">The server answers, but takes no requests: {now.reason}. Trying again every second.</p>}
      {now.state === 'open' && wasAway && <p class="good">Connected again: what you see is new.</p>}
    </div>
  );
}
