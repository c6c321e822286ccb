import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Button } from '../../components/button.js';
import { SelectField, TextField } from '../../components/field.js';
import { Failure, Note } from '../../components/notes.js';
import { listOf } from '../shared/list-of.js';
import type { Senders } from '../shared/senders.js';
import { WhenFields } from '../shared/when.js';
import { t } from './compose-texts.js';
import { change, draft } from './draft.js';

// The parts that the forms for SMS and for messaging apps share.

/** A message that was sent, for the note above the form. */
export interface Sent {
  readonly id: string;
  readonly text: string;
  readonly query?: Readonly<Record<string, string>>;
}

export interface FormProps {
  readonly choice: ComponentChildren;
  onSent(sent: Sent): void;
}

interface FromFieldProps {
  readonly loaded: Senders;
  /** A text that says how to get a sender. It is shown if there is none. */
  readonly none: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The field for the sender of a message. */
export function FromField({ loaded, none, children }: FromFieldProps) {
  if (loaded.error !== undefined) return <Failure error={loaded.error} onRetry={loaded.reload} />;
  return <>{loaded.isLoaded && loaded.names.length === 0 ? <Note tone="warn">{none}</Note> : children}</>;
}

interface ComposeFormProps {
  readonly class: string;
  /** The values that the user must still enter, in words. */
  readonly missing: readonly string[];
  readonly isReady: boolean;
  /** Whether the preview is shown. */
  readonly preview: Signal<boolean>;
  readonly children: ComponentChildren;
}

/** A form that ends with rarely used options, the list of missing values, and the button for the preview. */
export function ComposeForm({ class: name, missing, isReady, preview, children }: ComposeFormProps) {
  return (
    <form
      class={name}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) preview.value = true;
      }}
    >
      {children}
      <WhenFields of={draft.value.when} set={(changes) => change({ when: { ...draft.value.when, ...changes } })} />
      <More />
      <div class="buttons">
        {missing.length > 0 && <span class="missing">{t('missing', { what: listOf(missing) })}</span>}
        <Button type="submit" kind="main" disabled={!isReady}>
          {t('preview')}
        </Button>
      </div>
    </form>
  );
}

/** Rarely used options: the priority and the metadata. */
function More() {
  const { priority, metadata } = draft.value;
  return (
    <details open={priority !== 'normal' || metadata !== ''}>
      <summary>{t('more')}</summary>
      <div class="form">
        <SelectField
          label={t('priority')}
          value={priority}
          options={[
            ['high', t('high')],
            ['normal', t('normal')],
            ['bulk', t('bulk')],
          ]}
          onInput={(value) => change({ priority: value })}
        />
        <TextField
          label={t('metadata')}
          rows={3}
          hint={hasBadMetadata() ? <span class="bad-text">{t('metadataBad')}</span> : t('metadataHint')}
          value={metadata}
          onInput={(value) => change({ metadata: value })}
        />
      </div>
    </details>
  );
}

export function hasBadMetadata(): boolean {
  return draft.value.metadata.split('\n').some((line) => line.trim() !== '' && !/^[^=]+=/.test(line));
}
