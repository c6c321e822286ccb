import { useSignal } from '@preact/signals';
import { useId, useRef } from 'preact/hooks';
import { PersonalText } from '../../../../common/text/personal-text.js';
import { measure } from '../../../../sms/segmentation.js';
import { Button } from '../../components/button.js';
import { SelectField } from '../../components/field.js';
import { Failure, Note } from '../../components/notes.js';
import { Table } from '../../components/table.js';
import { number } from '../../core/format.js';
import { word } from '../../core/words.js';
import { BadLinesNote } from '../shared/bad-lines.js';
import { shownNumber } from '../shared/number.js';
import { t } from './compose-texts.js';
import { change, draft } from './draft.js';
import { column, personalText, table, tableRecipients } from './personal.js';
import type { Price } from './quote.js';
import { TooMany } from './recipients-field.js';

/** A file with more bytes than this is left to a campaign, which reads it as a stream. */
const MAX_BYTES = 32 * 1024 * 1024;
/** A pasted table with more characters than this is treated like a file, because a text box with megabytes is slow. */
const LONG = 20_000;
/** How many texts the preview has. */
const SHOWN = 5;

/** The field for a table of recipients. The user can paste, drop or upload it. */
export function TableField({ price }: { readonly price: Price | undefined }) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const chooser = useRef<HTMLDivElement>(null);
  const failed = useSignal<unknown>(undefined);
  const { pasted, file } = draft.value;
  const take = async (chosen: File | undefined): Promise<void> => {
    if (!chosen) return;
    failed.value = undefined;
    try {
      const isLarge = chosen.size > MAX_BYTES;
      change({ file: { name: chosen.name, text: isLarge ? undefined : await chosen.text() }, column: undefined });
    } catch (error) {
      // For example a file that was moved away.
      failed.value = error;
    }
    // The same file may be chosen again.
    if (input.current) input.current.value = '';
  };
  return (
    <fieldset
      class="form"
      aria-label={t('table')}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        if ((event.dataTransfer?.files.length ?? 0) === 0) return;
        event.preventDefault();
        void take(event.dataTransfer?.files[0]);
      }}
    >
      <div class="field">
        <label for={id}>{t('table')}</label>
        <textarea
          id={id}
          rows={4}
          value={file ? '' : pasted}
          disabled={file !== undefined}
          dir="auto"
          aria-describedby={`${id}-hint`}
          placeholder={t('tableExample')}
          onInput={({ currentTarget }) => change({ pasted: currentTarget.value, column: undefined })}
          onPaste={(event) => {
            const text = event.clipboardData?.getData('text/plain') ?? '';
            if (text.length <= LONG) return;
            event.preventDefault();
            change({ file: { name: t('pastedTable'), text }, column: undefined });
          }}
        />
        <p class="hint" id={`${id}-hint`}>
          {t('tableHint')}
        </p>
        <div class="upload" ref={chooser}>
          <input
            ref={input}
            type="file"
            accept=".csv,.txt,.tsv,text/csv,text/plain"
            hidden
            onChange={({ currentTarget }) => void take(currentTarget.files?.[0])}
          />
          <Button onClick={() => input.current?.click()}>{t('upload')}</Button>
          {file && (
            <>
              <bdi>{file.name}</bdi>
              <Button
                kind="plain"
                label={t('removeBatch', { name: file.name })}
                onClick={() => {
                  change({ file: undefined, column: undefined });
                  chooser.current?.querySelector('button')?.focus();
                }}
              >
                <span aria-hidden="true">×</span>
              </Button>
            </>
          )}
        </div>
        <Failure error={failed.value} />
      </div>
      {table.value.rows.length > 0 && (
        <>
          <SelectField
            label={t('numberColumn')}
            value={String(column.value)}
            options={table.value.names.map(
              (name, index) => [String(index), table.value.titles[index] || name] as const,
            )}
            onInput={(value) => change({ column: Number(value) })}
          />
          <Variables />
        </>
      )}
      <div class="form" aria-live="polite">
        <Counts />
      </div>
      <OwnTexts price={price} />
    </fieldset>
  );
}

/** The variables that the text may use, each with the heading of its column. */
function Variables() {
  const { names, titles } = table.value;
  return (
    <p class="hint">
      {t('variables')}{' '}
      {names.map((name, index) => (
        <span key={name}>
          <code>{`{${name}}`}</code>
          {titles[index] !== name && titles[index] !== '' && <bdi> ({titles[index]})</bdi>}{' '}
        </span>
      ))}
    </p>
  );
}

function Counts() {
  const { fault } = table.value;
  const { to, bad, duplicates, empty } = tableRecipients.value;
  const isLarge = draft.value.file !== undefined && draft.value.file.text === undefined;
  const parts = [
    ...(to.length > 0 ? [t('counted', { n: to.length })] : []),
    ...(duplicates > 0 ? [t('duplicates', { n: duplicates })] : []),
    ...(empty > 0 ? [t('emptyValues', { n: empty })] : []),
  ];
  return (
    <>
      {parts.length > 0 && <p class="hint">{parts.join(' · ')}</p>}
      {fault && <Note tone="bad">{t(fault.reason, { n: fault.line })}</Note>}
      <TooMany count={to.length} isLarge={isLarge} />
      <BadLinesNote
        title={t('badRows', { n: bad.length })}
        of={[{ bad: bad.map(({ line, reason, of }) => ({ line, text: t(`row_${reason}`, { of: of.slice(0, 60) }) })) }]}
      />
    </>
  );
}

/** The texts of the first recipients, with their segments and price. */
export function OwnTexts({ price }: { readonly price: Price | undefined }) {
  const text = personalText.value;
  const rows = tableRecipients.value.to.slice(0, SHOWN);
  if (!(text instanceof PersonalText) || draft.value.text === '' || rows.length === 0) return null;
  const units = (to: string): string => {
    const own = price?.unitsOf.get(to);
    return own === undefined ? '–' : number(own);
  };
  return (
    <Table
      caption={t('firstTexts')}
      rows={rows.map((row) => ({ number: row.number, own: text.complete(row.vars) }))}
      identity={(row) => row.number}
      columns={[
        {
          title: word('number'),
          cell: (row) => (
            <span class="nowrap">
              <bdi>{shownNumber(row.number)}</bdi>
            </span>
          ),
          narrow: 'lead',
        },
        { title: t('text'), cell: ({ own }) => <span dir="auto">{own}</span>, narrow: 'text' },
        { title: t('segments'), right: true, cell: ({ own }) => number(measure(own).segments), narrow: 'small' },
        { title: t('price'), right: true, cell: (row) => units(row.number), narrow: 'small' },
      ]}
    />
  );
}
