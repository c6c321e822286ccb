import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { number } from '../core/format.js';
import { place } from '../core/place.js';
import { address } from '../core/router.js';
import { word } from '../core/words.js';
import { Button } from './button.js';

interface ScreenProps {
  readonly title: string;
  /** A link back to the list that this entry belongs to. */
  readonly back?: readonly [href: string, name: string];
  /** One line under the title. */
  readonly lead?: ComponentChildren;
  /** Buttons next to the title. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A screen with its title, buttons and content. The title gets the focus when the screen is opened. */
export function Screen({ title, back, lead, actions, children }: ScreenProps) {
  useEffect(() => {
    document.title = `${title} · ${place.name}`;
  }, [title]);
  return (
    <>
      <header class="screen-head">
        <div>
          {back && (
            <a class="back" href={back[0]}>
              ← {back[1]}
            </a>
          )}
          <h1 id="screen-title" tabIndex={-1} dir="auto">
            {title}
          </h1>
          {lead !== undefined && <p class="lead">{lead}</p>}
        </div>
        {actions !== undefined && <div class="screen-actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

/** A part of a screen with a heading. */
export function Section({
  title,
  actions,
  children,
}: {
  readonly title: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="section">
      <header class="section-head">
        <h2>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  );
}

/** The filters of a list. Their values are kept in the address. A phone shows them only when it is asked to. */
export function Filters({ children }: { readonly children: ComponentChildren }) {
  const open = useSignal(false);
  const set = [...address.value.query.keys()].filter((name) => name !== 'account').length;
  return (
    <search>
      <div class="filters-fold">
        <Button expanded={open.value} onClick={() => (open.value = !open.value)}>
          {word('filter')}
          {set > 0 && ` (${number(set)})`}
        </Button>
      </div>
      <div class={open.value ? 'filters' : 'filters folded'}>{children}</div>
    </search>
  );
}

/** A list of names with their values. */
export function Facts({ of }: { readonly of: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** One important number with its name and a note, for example a number to compare it with. */
export function Figure({
  name,
  value,
  note,
}: {
  readonly name: string;
  readonly value: ComponentChildren;
  readonly note?: ComponentChildren;
}) {
  return (
    <div class="card figure-card">
      <p class="figure-name">{name}</p>
      <p class="figure-value">{value}</p>
      {note !== undefined && <p class="hint">{note}</p>}
    </div>
  );
}
