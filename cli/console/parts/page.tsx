import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

interface PageProps {
  readonly title: string;
  /** Beside the title. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Page({ title, aside, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} – cep console`;
  }, [title]);
  return (
    <>
      <header class="page-head">
        <h1 tabIndex={-1}>{title}</h1>
        {aside}
      </header>
      {children}
    </>
  );
}

interface SectionProps {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Section({ title, aside, children }: SectionProps) {
  return (
    <section>
      <div class="section-head">
        <h2>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}

/** Wide content scrolls by itself, so that the page never does sideways. The region can be reached and scrolled by keyboard. */
export function Wide({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable to be scrolled by keyboard.
    <section class="wide" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
