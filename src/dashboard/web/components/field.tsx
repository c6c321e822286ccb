import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import { queryValue, setQuery } from '../core/router.js';
import { word } from '../core/words.js';

interface Common {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly required?: boolean;
}

interface TextFieldProps extends Common {
  readonly value: string;
  onInput(value: string): void;
  readonly type?: 'text' | 'number' | 'date' | 'datetime-local' | 'password' | 'search' | 'url' | 'tel';
  readonly placeholder?: string;
  readonly autocomplete?: string;
  readonly min?: number | string;
  readonly max?: number | string;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** More than one: a box of so many lines. */
  readonly rows?: number;
  readonly autofocus?: boolean;
}

/** A text field with its label, and a hint that screen readers tell with it. */
export function TextField({
  label,
  hint,
  required,
  value,
  onInput,
  rows = 1,
  autofocus,
  type = 'text',
  ...input
}: TextFieldProps) {
  const id = useId();
  const described = hint === undefined ? undefined : `${id}-hint`;
  const element = useRef<HTMLInputElement>(null);
  // Before the browser draws: what is typed at once must arrive here. A dialog that opens looks at the attribute.
  useLayoutEffect(() => {
    if (autofocus) element.current?.focus();
  }, []);
  return (
    <div class="field">
      <Label id={id} label={label} required={required} />
      {rows > 1 ? (
        <textarea
          id={id}
          rows={rows}
          value={value}
          required={required}
          aria-describedby={described}
          placeholder={input.placeholder}
          dir="auto"
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      ) : (
        <input
          id={id}
          ref={element}
          autofocus={autofocus}
          // The types of Preact ask for one of them at a time.
          type={type as 'text'}
          {...input}
          dir="auto"
          value={value}
          required={required}
          aria-describedby={described}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      )}
      {hint !== undefined && (
        <p class="hint" id={described}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface SelectFieldProps extends Common {
  readonly value: string;
  /** Value and what is shown for it. */
  readonly options: readonly (readonly [value: string, text: string])[];
  onInput(value: string): void;
}

export function SelectField({ label, hint, required, value, options, onInput }: SelectFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <Label id={id} label={label} required={required ?? true} />
      <select
        id={id}
        value={value}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      >
        {options.map(([each, text]) => (
          <option key={each} value={each} selected={each === value}>
            {text}
          </option>
        ))}
      </select>
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface ChecksProps {
  readonly label: string;
  readonly hint?: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly chosen: readonly string[];
  /** What the browser says when the form is sent with none of them; default none is fine. */
  readonly needed?: string;
  onInput(chosen: readonly string[]): void;
}

/** Several boxes under one heading. */
export function Checks({ label, hint, options, chosen, needed = '', onInput }: ChecksProps) {
  const id = useId();
  return (
    <fieldset class="field" aria-describedby={hint === undefined ? undefined : id}>
      <legend>{label}</legend>
      <div class="checks">
        {options.map(([value, text], index) => (
          <label key={value} class="check">
            <input
              ref={(box) => box?.setCustomValidity(index === 0 && chosen.length === 0 ? needed : '')}
              type="checkbox"
              checked={chosen.includes(value)}
              onInput={({ currentTarget }) =>
                onInput(currentTarget.checked ? [...chosen, value] : chosen.filter((each) => each !== value))
              }
            />
            {text}
          </label>
        ))}
      </div>
      {hint !== undefined && (
        <p class="hint" id={id}>
          {hint}
        </p>
      )}
    </fieldset>
  );
}

function Label({
  id,
  label,
  required,
}: {
  readonly id: string;
  readonly label: string;
  readonly required?: boolean | undefined;
}) {
  return (
    <label for={id}>
      {label}
      {!required && <span class="optional"> {word('optional')}</span>}
    </label>
  );
}

/** A field of a filter. What is typed is used when the typing pauses, so that not each letter is a request. */
export function SearchField({
  label,
  value,
  onInput,
}: {
  readonly label: string;
  readonly value: string;
  onInput(value: string): void;
}) {
  const typed = useSignal(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    typed.value = value;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <TextField
      label={label}
      required
      type="search"
      autocomplete="off"
      value={typed.value}
      onInput={(now) => {
        typed.value = now;
        clearTimeout(timer.current);
        timer.current = setTimeout(() => onInput(now.trim()), 300);
      }}
    />
  );
}

/** From and to as days, both included; they stand in the address as `from` and `to`. */
export function DayFields() {
  return (
    <>
      <TextField label={word('from')} type="date" value={queryValue('from')} onInput={(from) => setQuery({ from })} />
      <TextField label={word('to')} type="date" value={queryValue('to')} onInput={(to) => setQuery({ to })} />
    </>
  );
}
