import { durationText, timeText } from './text.ts';

export interface TimePoint {
  readonly key: string;
  readonly timeMs: number;
  readonly text: string;
  readonly isCurrent?: boolean;
}

interface TimelineProps {
  readonly label: string;
  readonly points: readonly TimePoint[];
  /** Whether each point is written out below, with its distance from the first. */
  readonly isNamed?: boolean;
}

/** Of the width, so that points at the ends are whole. */
const edgePercent = 1.5;

/** Points on a line of time. */
export function Timeline({ label, points, isNamed }: TimelineProps) {
  if (points.length === 0) return null;
  const times = points.map(({ timeMs }) => timeMs);
  const first = Math.min(...times);
  const span = Math.max(...times) - first;
  const x = (timeMs: number): string => `${span === 0 ? 50 : edgePercent + ((timeMs - first) * (100 - 2 * edgePercent)) / span}%`;
  const ordered = points.toSorted((a, b) => Number(a.isCurrent ?? false) - Number(b.isCurrent ?? false));
  return (
    <figure class="timeline">
      <svg role="img" aria-label={`${label}, from ${timeText(first)} over ${durationText(span)}`}>
        <line x1="0" x2="100%" y1="50%" y2="50%" />
        {ordered.map(({ key, timeMs, text, isCurrent }) => (
          <circle key={key} class={isCurrent ? 'current' : ''} cx={x(timeMs)} cy="50%" r={isCurrent ? 7 : 4.5}>
            <title>{text}</title>
          </circle>
        ))}
      </svg>
      <figcaption>
        <span>{timeText(first)}</span>
        {span > 0 && <span>{durationText(span)}</span>}
        {span > 0 && <span>{timeText(first + span)}</span>}
      </figcaption>
      {isNamed && (
        <ol>
          {points
            .toSorted((a, b) => a.timeMs - b.timeMs)
            .map(({ key, timeMs, text }) => (
              <li key={key}>
                <span class="quiet">+{durationText(timeMs - first)}</span> {text}
              </li>
            ))}
        </ol>
      )}
    </figure>
  );
}
