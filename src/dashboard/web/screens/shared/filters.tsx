import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { TextField } from '../../components/field.js';
import { queryValue, setQuery } from '../../core/router.js';

/** Milliseconds without a further key before a filter applies. */
const PAUSE = 400;

interface QueryFieldProps {
  /** The parameter in the address. */
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'tel';
  readonly placeholder?: string;
}

/** A filter that is typed. It stands in the address as soon as the user pauses. */
export function QueryField({ name, label, ...input }: QueryFieldProps) {
  const shown = queryValue(name);
  const typed = useSignal(shown);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const applied = useRef(shown);
  useEffect(() => () => clearTimeout(timer.current), []);
  // The address changed otherwise: a link, or “clear filters”.
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
