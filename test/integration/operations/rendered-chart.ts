import { parseAllDocuments } from 'yaml';

// biome-ignore lint/suspicious/noExplicitAny: what Helm renders is looked at by expectations alone.
type Resource = any;

/** The resources that a chart was rendered to. */
export class RenderedChart {
  readonly resources: readonly Resource[];

  constructor(text: string) {
    this.resources = parseAllDocuments(text)
      .map((document) => document.toJS())
      .filter((resource) => resource !== null);
  }

  get kinds(): readonly string[] {
    return this.resources.map(({ kind }) => kind).sort();
  }

  of(kind: string, name: string): Resource {
    return this.resources.find((resource) => resource.kind === kind && resource.metadata.name === name);
  }

  env(statefulSet: string): Readonly<Record<string, unknown>> {
    const [container] = this.of('StatefulSet', statefulSet).spec.template.spec.containers;
    return Object.fromEntries(container.env.map(({ name, value }: Resource) => [name, value]));
  }

  /** What a pod would lack, one line each: names that lead nowhere, and rights that it should not have. */
  faults(): readonly string[] {
    return this.#all('StatefulSet').flatMap(({ metadata, spec }) => {
      const pod = spec.template.spec;
      const containers = [...(pod.initContainers ?? []), ...pod.containers];
      const volumes = [...(pod.volumes ?? []), ...spec.volumeClaimTemplates.map(({ metadata: claim }: Resource) => claim)];
      const mounts = containers.flatMap(({ volumeMounts }: Resource) => volumeMounts);
      const isSelected = (selector: object): boolean =>
        Object.entries(selector).every(([label, value]) => spec.template.metadata.labels[label] === value);
      return [
        ...(isSelected(spec.selector.matchLabels) ? [] : ['selects other pods']),
        ...(isSelected(this.of('Service', spec.serviceName)?.spec.selector ?? { none: '' }) ? [] : ['has no service']),
        ...(this.#all('PodDisruptionBudget').some((budget) => isSelected(budget.spec.selector.matchLabels)) ? [] : ['has no budget']),
        ...mounts
          .filter(({ name }: Resource) => !volumes.some((volume: Resource) => volume.name === name))
          .map(({ name }: Resource) => `has no volume ${name}`),
        ...containers.filter(({ securityContext }: Resource) => !securityContext.readOnlyRootFilesystem).map(() => 'may write to its root'),
        ...(pod.securityContext.runAsNonRoot ? [] : ['runs as root']),
        // A service `cep-metrics` would be a setting: CEP_METRICS_PORT=tcp://..
        ...(pod.enableServiceLinks === false ? [] : ['takes settings from names of services']),
      ].map((fault) => `${metadata.name} ${fault}`);
    });
  }

  #all(kind: string): readonly Resource[] {
    return this.resources.filter((resource) => resource.kind === kind);
  }
}
