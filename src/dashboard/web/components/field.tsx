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
  readonly type?: 'text' | 'number' | 'date' | 'datetime-local' | 'time' | 'password' | 'search' | 'url' | 'tel';
  readonly placeholder?: string;
  readonly autocomplete?: string;
  readonly min?: number | string;
  readonly max?: number | string;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** How many lines the field has. Default: 1. */
  readonly rows?: number;
  readonly autofocus?: boolean;
}

/** A text field with its label, and a hint that screen readers read out with it. */
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
  // The focus moves before the browser draws, so that the first keys arrive here. A dialog that opens uses the attribute.
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
          // Preact's types accept one literal type only, not a union of them.
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

interface SelectFieldProps<T extends string> extends Common {
  readonly value: T;
  /** The values, each with its visible text. */
  readonly options: readonly (readonly [value: T, text: string])[];
  onInput(value: T): void;
}

export function SelectField<T extends string>({ label, hint, required, value, options, onInput }: SelectFieldProps<T>) {
  const id = useId();
  return (
    <div class="field">
      <Label id={id} label={label} required={required ?? true} />
      <select
        id={id}
        value={value}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onInput={({ currentTarget }) => {
          const chosen = options.find(([each]) => each === currentTarget.value);
          if (chosen) onInput(chosen[0]);
        }}
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

interface ChecksProps<T extends string> {
  readonly label: string;
  readonly hint?: string;
  readonly options: readonly (readonly [value: T, text: string])[];
  readonly chosen: readonly T[];
  /** The message of the browser if the form is sent without a ticked box. Default: no box needs to be ticked. */
  readonly needed?: string;
  onInput(chosen: readonly T[]): void;
}

/** A group of checkboxes under one heading. */
export function Checks<T extends string>({ label, hint, options, chosen, needed = '', onInput }: ChecksProps<T>) {
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

/** A text field for a filter. The filter applies when the typing pauses, so that not every letter makes a request. */
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

/** The first and the last day of a period, both included. They are kept in the address as `from` and `to`. */
export function DayFields() {
  return (
    <>
      <TextField label={word('from')} type="date" value={queryValue('from')} onInput={(from) => setQuery({ from })} />
      <TextField label={word('to')} type="date" value={queryValue('to')} onInput={(to) => setQuery({ to })} />
    </>
  );
}
