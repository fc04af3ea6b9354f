import { stringify } from 'yaml';
import { metrics } from '../../shared/telemetry/metrics-table.ts';
import { type Alert, alerts } from './alerts.ts';
import { code, page, table } from './markdown.ts';

const source = 'docs/generate/alerts.ts';
const entries = Object.entries(alerts as Readonly<Record<string, Alert>>);

/** `deploy/prometheus/rules.yaml`: the alerting rules. */
export function rulesYaml(): string {
  for (const [name, alert] of entries) refuseUnknown(name, alert);
  const rules = entries.map(([name, { expr, for: pending, severity, summary, runbook }]) => ({
    ...{ alert: name, expr, for: pending, labels: { severity } },
    annotations: { summary, runbook: `docs/operations/runbooks/${runbook}.md` },
  }));
  return yaml({ groups: [{ name: 'cep', rules }] });
}

/** `deploy/prometheus/rules.test.yaml`: for each rule series under which it fires, and under which it does not, for `promtool test rules`. */
export function rulesTestYaml(): string {
  const test = (alertname: string, input: Readonly<Record<string, string>>, isFiring: boolean): object => ({
    name: isFiring ? alertname : `${alertname} does not fire`,
    interval: '1m',
    input_series: Object.entries(input).map(([series, values]) => ({ series, values })),
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname="${alertname}",alertstate="firing"})`,
        eval_time: '25m',
        exp_samples: isFiring ? [{ labels: '{}', value: 1 }] : [],
      },
    ],
  });
  const tests = entries.flatMap(([name, { fires, quiet }]) => [test(name, fires, true), ...(quiet ? [test(name, quiet, false)] : [])]);
  return yaml({ rule_files: ['rules.yaml'], evaluation_interval: '1m', tests });
}

/** `docs/operations/runbooks/README.md`: what each alert means, and where it leads. */
export function runbooksPage(): string {
  const rows = entries.map(([name, { severity, expr, for: forText, summary, runbook }]) => [
    `[${name}](${runbook}.md)`,
    severity,
    summary.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, '*$1*').replaceAll(/\{\{ \$value[^}]*\}\}/g, '*n*'),
    `${code(expr)}${forText === '0m' ? '' : ` for ${forText}`}`,
  ]);
  return page({
    title: 'Runbooks',
    source,
    blocks: [
      '`deploy/prometheus/rules.yaml` holds these alerts; the annotation `runbook` of each names its page. `page` wants somebody now, `ticket` within ' +
        'a day. [Monitoring](../monitoring.md) says how to set them up.',
      'The commands of these pages need a key (`CEP_API_KEY` or `CEP_API_KEY_FILE`), those about a cluster `CEP_COORDINATOR_URL`, those about one ' +
        'server or worker `CEP_SERVER`.',
      table(['alert', 'severity', 'what it says', 'when'], rows),
    ],
  });
}

/** @throws when an expression reads a metric that is not in the table, or not one that it declares. */
function refuseUnknown(name: string, { expr, metrics: declared }: Alert): void {
  const read = new Set(Array.from(expr.matchAll(/\bcep_\w+|\bup\b/g), ([text]) => text.replace(/_(bucket|sum|count)$/, '')));
  const wrong = [...read].filter((metric) => metric !== 'up' && !(metric in metrics));
  const undeclared = [...read].filter((metric) => !(declared as readonly string[]).includes(metric));
  if (wrong.length + undeclared.length > 0) throw new Error(`the alert ${name} reads ${[...wrong, ...undeclared].join(', ')}`);
}

function yaml(value: unknown): string {
  return `# Generated from ${source} by "npm run generate": change it there.\n${stringify(value, { lineWidth: 0 })}`;
}
