import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { TextField } from '../../components/field.js';
import { Note } from '../../components/notes.js';
import { texts } from '../../core/i18n.js';
import { queryValue, setQuery } from '../../core/router.js';
import { cleanNumber } from './number.js';

const t = texts(
  { badNumber: 'A number has 7 to 15 digits, with its country code.' },
  { badNumber: 'Un numéro compte 7 à 15 chiffres, indicatif du pays compris.' },
);

/** Says that a filter by number does not apply, because what was typed is not a number. */
export function BadNumber({ typed }: { readonly typed: string }) {
  return (
    <div role="status">
      {typed !== '' && cleanNumber(typed) === undefined && <Note tone="warn">{t('badNumber')}</Note>}
    </div>
  );
}

/** How long the typing must pause before a filter applies, in milliseconds. */
const PAUSE = 400;

interface QueryFieldProps {
  /** The parameter in the address. */
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'tel';
  readonly placeholder?: string;
}

/** A text field for a filter. The filter is put into the address when the typing pauses. */
export function QueryField({ name, label, ...input }: QueryFieldProps) {
  const shown = queryValue(name);
  const typed = useSignal(shown);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const applied = useRef(shown);
  useEffect(() => () => clearTimeout(timer.current), []);
  // Something else has changed the address: a link, or “Clear filters”.
  if (shown !== applied.current) {
    applied.current = shown;
    typed.value = shown;
  }
  return (
    <TextField
      label={label}
      {...input}
      value={typed.value}
      onInput={(value) => {
        typed.value = value;
        clearTimeout(timer.current);
        timer.current = setTimeout(() => {
          applied.current = value;
          setQuery({ [name]: value });
        }, PAUSE);
      }}
    />
  );
}
