import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Campaign as CampaignView, ImportResult } from '../../../../client/index.js';
import { PersonalText } from '../../../../common/text/personal-text.js';
import { Button } from '../../components/button.js';
import { SelectField } from '../../components/field.js';
import { Failure, Note } from '../../components/notes.js';
import { Section } from '../../components/page.js';
import { Table } from '../../components/table.js';
import { messaging } from '../../core/clients.js';
import { useAction } from '../../core/form.js';
import { word } from '../../core/words.js';
import { listOf } from '../shared/list-of.js';
import { cleanNumber } from '../shared/number.js';
import { TextSize } from '../shared/segments.js';
import { t } from './campaign-texts.js';
import { type CsvHead, readHead } from './csv-head.js';

/** How long an import may take, in milliseconds. A file of a million rows takes minutes on a slow connection. */
const IMPORT_MS = 1_800_000;

interface Chosen {
  readonly file: File;
  readonly head: CsvHead;
  readonly column: string;
}

/** Imports files of recipients into a draft. */
export function DraftRecipients({ of, onImported }: { readonly of: CampaignView; onImported(): void }) {
  const input = useRef<HTMLInputElement>(null);
  const chosen = useSignal<Chosen | undefined>(undefined);
  const result = useSignal<ImportResult | undefined>(undefined);
  const unreadable = useSignal<unknown>(undefined);
  const choose = async (file: File | null | undefined): Promise<void> => {
    if (!file) return;
    result.value = undefined;
    unreadable.value = undefined;
    try {
      const head = await readHead(file);
      chosen.value = { file, head, column: columnOf(head) };
    } catch (error) {
      // For example a file that was moved away.
      chosen.value = undefined;
      unreadable.value = error;
    }
    // The same file may be chosen again.
    if (input.current) input.current.value = '';
  };
  const send = useAction(async () => {
    if (!chosen.value) return;
    const { file, column } = chosen.value;
    result.value = await messaging().campaigns.addRecipients(of.id, file, { column, timeoutMs: IMPORT_MS });
    onImported();
  });
  return (
    <Section title={t('importTitle')}>
      <fieldset
        class="card drop"
        aria-label={t('importTitle')}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          void choose(event.dataTransfer?.files[0]);
        }}
      >
        <input
          ref={input}
          type="file"
          accept=".csv,text/csv"
          hidden
          aria-label={t('file')}
          onChange={({ currentTarget }) => void choose(currentTarget.files?.[0])}
        />
        <Button onClick={() => input.current?.click()}>{t('file')}</Button>
        <p class="hint">{t('drop')}</p>
        <Failure error={unreadable.value} />
        {chosen.value && (
          <>
            <SelectField
              label={t('column')}
              value={chosen.value.column}
              options={chosen.value.head.columns.filter((each) => each !== '').map((each) => [each, each])}
              onInput={(column) => {
                if (chosen.value) chosen.value = { ...chosen.value, column };
              }}
            />
            <Preview text={of.content} of={chosen.value} />
            <Failure error={send.error} />
            <Button kind="main" busy={send.busy} onClick={() => void send.run()}>
              {t('import', { name: chosen.value.file.name })}
            </Button>
          </>
        )}
        <div role="status">{result.value && <Result of={result.value} />}</div>
      </fieldset>
    </Section>
  );
}

/** The column `number`, or the first one whose values look like numbers. */
function columnOf({ columns, rows }: CsvHead): string {
  if (columns.includes('number')) return 'number';
  return columns.find((_, index) => cleanNumber(rows[0]?.[index] ?? '') !== undefined) ?? columns[0] ?? '';
}

/** The texts of the first rows. */
function Preview({ text, of: { head, column } }: { readonly text: string; readonly of: Chosen }) {
  const read = PersonalText.parse(text);
  if (!(read instanceof PersonalText)) return null;
  const missing = read.variables.filter((name) => !head.columns.includes(name));
  const rows = head.rows.map((cells, index) => {
    const vars = Object.fromEntries(head.columns.map((name, at) => [name, cells[at] ?? '']));
    return { key: String(index), number: vars[column] ?? '', text: read.complete(vars) };
  });
  return (
    <>
      {missing.length > 0 && <Note tone="warn">{t('missing', { what: listOf(missing) })}</Note>}
      <Table
        caption={t('preview')}
        rows={rows}
        identity={({ key }) => key}
        columns={[
          { title: word('number'), cell: ({ number }) => <bdi>{number}</bdi> },
          { title: t('text'), cell: ({ text: each }) => <bdi>{each}</bdi> },
          { title: t('segments'), cell: ({ text: each }) => <TextSize of={each} /> },
        ]}
      />
    </>
  );
}

function Result({ of: { imported, duplicates, invalid, errors } }: { readonly of: ImportResult }) {
  return (
    <>
      <Note tone={invalid > 0 ? 'warn' : 'good'}>{t('imported', { n: imported, duplicates, invalid })}</Note>
      {errors.length > 0 && (
        <ul aria-label={t('wrongRows')}>
          {errors.map(({ row, value, reason }) => (
            <li key={row}>
              <span class="strong">{t('line', { n: row })}</span> <bdi>{value}</bdi>: {t.of(reason)}
            </li>
          ))}
          {invalid > errors.length && <li>{t('moreWrong', { n: invalid - errors.length })}</li>}
        </ul>
      )}
    </>
  );
}
