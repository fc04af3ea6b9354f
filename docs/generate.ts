import { commandList, commandsPage } from './generate/commands.ts';
import { configurationPage } from './generate/configuration.ts';
import { connectorPages } from './generate/connectors.ts';
import { diagnosticsPage } from './generate/diagnostics.ts';
import { errorsPage } from './generate/errors.ts';
import { aggregatesPage, functionsPage } from './generate/functions.ts';
import { clusterDashboard, serverDashboard } from './generate/grafana.ts';
import { limitsPage } from './generate/limits.ts';
import { metricsPage } from './generate/metrics.ts';
import { operatorsPage } from './generate/operators.ts';
import { rulesTestYaml, rulesYaml, runbooksPage } from './generate/prometheus.ts';
import { vocabularyJson } from './generate/vocabulary.ts';

/** The reference pages, alerts and dashboards, and the list of commands that the command line shows, as `[path from the root, text]`. The same tables give the same text. */
export async function generate(): Promise<readonly (readonly [path: string, text: string])[]> {
  return [
    ['docs/language/operators.md', operatorsPage()],
    ['docs/language/functions.md', functionsPage()],
    ['docs/language/aggregates.md', aggregatesPage()],
    ['docs/language/diagnostics.md', diagnosticsPage()],
    ...connectorPages(),
    ['docs/configuration.md', configurationPage()],
    ['docs/limits.md', limitsPage()],
    ['docs/metrics.md', metricsPage()],
    ['docs/errors.md', errorsPage()],
    ['docs/commands.md', await commandsPage()],
    ['docs/operations/runbooks/README.md', runbooksPage()],
    ['deploy/prometheus/rules.yaml', rulesYaml()],
    ['deploy/prometheus/rules.test.yaml', rulesTestYaml()],
    ['deploy/grafana/server.json', serverDashboard()],
    ['deploy/grafana/cluster.json', clusterDashboard()],
    ['cli/console/generated/vocabulary.json', vocabularyJson()],
    ['cli/generated/commands.json', await commandList()],
  ];
}
