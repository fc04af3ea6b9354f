import { rateText } from './text.ts';

const width = 300;
const height = 56;

/** Rates of the last minutes as a line; what it says is also its label. */
export function Sparkline({ rates, label }: { readonly rates: readonly number[]; readonly label: string }) {
  const most = Math.max(...rates, 0);
  const text = `${label}: ${rateText(rates.at(-1))}, at most ${rateText(most)}`;
  if (rates.length < 2) return <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label} />;
  const x = (at: number): number => (at * width) / (rates.length - 1);
  const y = (rate: number): number => (most === 0 ? height - 2 : height - 2 - (rate * (height - 6)) / most);
  const points = rates.map((rate, at) => `${x(at).toFixed(1)},${y(rate).toFixed(1)}`);
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={text}>
      <title>{text}</title>
      <polygon points={`0,${height} ${points.join(' ')} ${width},${height}`} />
      <polyline points={points.join(' ')} vector-effect="non-scaling-stroke" />
    </svg>
  );
}
