import { useSignal } from '@preact/signals';
import { useId, useRef } from 'preact/hooks';
import { Button } from '../../components/button.js';
import { Note } from '../../components/notes.js';
import { percent } from '../../core/format.js';
import { hrefOf } from '../../core/router.js';
import { can, me } from '../../core/session.js';
import { BadLinesNote } from '../shared/bad-lines.js';
import { manyNumbersOf } from '../shared/number-list.js';
import { t } from './compose-texts.js';
import { badLines, change, draft, recipients } from './draft.js';

/** A pasted text with more characters than this becomes a separate list, because a text box with megabytes is slow. */
const LONG = 20_000;
/** The highest number of recipients of one message. */
export const MAX_RECIPIENTS = 100_000;

/** The field for numbers. The user can type, paste, drop or upload them. */
export function RecipientsField() {
  const id = useId();
  const file = useRef<HTMLInputElement>(null);
  const reading = useSignal<number | undefined>(undefined);
  const { typed, batches } = draft.value;
  const take = async (text: string, name: string | undefined): Promise<void> => {
    reading.value = 0;
    const which = name === undefined ? 'all' : 'first';
    const list = await manyNumbersOf(text, which, (part) => {
      reading.value = part;
    });
    const { numbers, bad, duplicates } = list;
    change({ batches: [...draft.value.batches, { name: name ?? t('pasted'), numbers, bad, duplicates }] });
    reading.value = undefined;
  };
  const upload = async (files: FileList | null | undefined): Promise<void> => {
    for (const each of files ?? []) await take(await each.text(), each.name);
    if (file.current) file.current.value = '';
  };
  return (
    <div class="field">
      <label for={id}>{t('numbers')}</label>
      <textarea
        id={id}
        rows={4}
        inputMode="tel"
        value={typed}
        aria-describedby={`${id}-hint ${id}-count`}
        placeholder={'+226 70 11 22 33\n+225 07 08 09 10 11'}
        onInput={({ currentTarget }) => change({ typed: currentTarget.value })}
        onPaste={(event) => {
          const text = event.clipboardData?.getData('text/plain') ?? '';
          if (text.length <= LONG) return;
          event.preventDefault();
          void take(text, undefined);
        }}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          if ((event.dataTransfer?.files.length ?? 0) === 0) return;
          event.preventDefault();
          void upload(event.dataTransfer?.files);
        }}
      />
      <p class="hint" id={`${id}-hint`}>
        {t('numbersHint')}
      </p>
      <div class="upload">
        <input
          ref={file}
          type="file"
          accept=".txt,.csv,text/plain,text/csv"
          multiple
          hidden
          onChange={({ currentTarget }) => void upload(currentTarget.files)}
        />
        <Button busy={reading.value !== undefined} onClick={() => file.current?.click()}>
          {t('upload')}
        </Button>
        <span role="status" class="soft">
          {reading.value !== undefined && t('reading', { part: percent(reading.value) })}
        </span>
      </div>
      {batches.length > 0 && (
        <ul class="batches">
          {batches.map((batch, index) => {
            const name = batch.name;
            return (
              <li key={index}>
                <span dir="auto">{name}</span>
                <span class="soft">{t('batch', { n: batch.numbers.length })}</span>
                <Button
                  kind="plain"
                  label={t('removeBatch', { name })}
                  onClick={() => change({ batches: draft.value.batches.filter((each) => each !== batch) })}
                >
                  <span aria-hidden="true">×</span>
                </Button>
              </li>
            );
          })}
        </ul>
      )}
      <div id={`${id}-count`} aria-live="polite">
        <Count />
      </div>
    </div>
  );
}

function Count() {
  const { numbers, duplicates } = recipients.value;
  const parts = [
    ...(numbers.length > 0 ? [t('counted', { n: numbers.length })] : []),
    ...(duplicates > 0 ? [t('duplicates', { n: duplicates })] : []),
  ];
  return (
    <>
      {parts.length > 0 && <p class="hint">{parts.join(' · ')}</p>}
      <TooMany count={numbers.length} />
      <BadLinesNote of={badLines.value} />
    </>
  );
}

/** Says that a message cannot have so many recipients, and leads to campaigns, which can. */
export function TooMany({ count, isLarge = false }: { readonly count: number; readonly isLarge?: boolean }) {
  if (count <= MAX_RECIPIENTS && !isLarge) return null;
  return (
    <Note tone="bad">
      <span>{isLarge ? t('tooLarge') : t('tooMany', { n: count })}</span>
      {me.value?.capabilities.campaigns && can('campaigns.write') && (
        <a href={hrefOf('campaigns/new')}>{t('toCampaigns')}</a>
      )}
    </Note>
  );
}
