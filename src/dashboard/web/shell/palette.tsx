import { signal, useSignal } from '@preact/signals';
import { useEffect, useId } from 'preact/hooks';
import { Dialog } from '../components/dialog.js';
import { Failure } from '../components/notes.js';
import { texts } from '../core/i18n.js';
import { word } from '../core/words.js';
import { type Finding, findingsOf, lookFor } from './palette-results.js';

const t = texts(
  {
    title: 'Find',
    field: 'A screen, an id, a number, an account',
    nothing: 'Nothing found',
    found: 'Found',
  },
  {
    title: 'Rechercher',
    field: 'Un écran, un identifiant, un numéro, un compte',
    nothing: 'Aucun résultat',
    found: 'Résultats',
  },
);

/** Whether the command palette is shown. */
export const paletteOpen = signal(false);

/** How long the user must pause before the service is asked, in milliseconds. */
const PAUSE = 250;

/** Finds screens by name, and messages, endpoints, numbers and accounts. Arrow keys select a result, Enter opens it. */
export function Palette() {
  const typed = useSignal('');
  const asked = useSignal<readonly Finding[]>([]);
  const asking = useSignal(false);
  const error = useSignal<unknown>(undefined);
  const chosen = useSignal(0);
  const id = useId();
  const close = (): void => {
    paletteOpen.value = false;
  };

  useEffect(() => {
    asked.value = [];
    error.value = undefined;
    chosen.value = 0;
    if (typed.value.trim() === '') return;
    const over = new AbortController();
    asking.value = true;
    const timer = setTimeout(() => {
      lookFor(typed.value, over.signal)
        .then(
          (found) => {
            if (!over.signal.aborted) asked.value = found;
          },
          (reason: unknown) => {
            if (!over.signal.aborted) error.value = reason;
          },
        )
        .finally(() => {
          if (!over.signal.aborted) asking.value = false;
        });
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      over.abort();
    };
  }, [typed.value]);

  const found = [...asked.value, ...findingsOf(typed.value)];
  const at = Math.min(chosen.value, found.length - 1);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      chosen.value = (at + step + found.length) % Math.max(found.length, 1);
      document.getElementById(`${id}-${chosen.value}`)?.scrollIntoView({ block: 'nearest' });
    }
    const target = found[at];
    if (event.key !== 'Enter' || !target) return;
    event.preventDefault();
    close();
    location.hash = target.href;
  };
  return (
    <Dialog title={t('title')} onClose={close}>
      <div class="form">
        <div class="field">
          <label for={id}>{t('field')}</label>
          <input
            id={id}
            autofocus
            type="text"
            role="combobox"
            aria-expanded="true"
            aria-autocomplete="list"
            aria-controls={`${id}-list`}
            aria-activedescendant={found.length > 0 ? `${id}-${at}` : undefined}
            autocomplete="off"
            spellcheck={false}
            dir="auto"
            value={typed.value}
            onInput={({ currentTarget }) => {
              typed.value = currentTarget.value;
            }}
            onKeyDown={onKeyDown}
          />
        </div>
        <div id={`${id}-list`} role="listbox" aria-label={t('found')} class="found">
          {found.map(({ name, href }, index) => (
            <a
              key={href}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === at}
              tabIndex={-1}
              href={href}
              dir="auto"
              onClick={close}
            >
              {name}
            </a>
          ))}
        </div>
        <div role="status" class="soft">
          {asking.value ? word('loading') : found.length === 0 && error.value === undefined && t('nothing')}
        </div>
        <Failure error={error.value} />
      </div>
    </Dialog>
  );
}
