import { useSignal } from '@preact/signals';
import type { OptOut } from '../../../../client/manage/index.js';
import { Button } from '../../components/button.js';
import { Confirm, Dialog, Form } from '../../components/dialog.js';
import { SearchField, SelectField, TextField } from '../../components/field.js';
import { Empty } from '../../components/notes.js';
import { Filters, Screen } from '../../components/page.js';
import { Ago } from '../../components/shown.js';
import { ListTable } from '../../components/table.js';
import { manage } from '../../core/clients.js';
import { useForm } from '../../core/form.js';
import { country, number as formatted } from '../../core/format.js';
import { texts } from '../../core/i18n.js';
import { useList, useResource } from '../../core/resource.js';
import { filterOf, queryValue, setQuery } from '../../core/router.js';
import { can } from '../../core/session.js';
import { word } from '../../core/words.js';
import { BadLinesNote } from '../shared/bad-lines.js';
import { BadNumber } from '../shared/filters.js';
import { listOf } from '../shared/list-of.js';
import { callingCodeOf, cleanNumber, shownNumber } from '../shared/number.js';
import { countriesOf, numbersOf } from '../shared/number-list.js';

const t = texts(
  {
    title: 'Opt-outs',
    lead: 'Numbers that do not want messages from a signature. Messages to them are refused and cost nothing.',
    add: 'Add numbers',
    empty: 'Nobody has opted out',
    emptyHow: 'People who answer STOP are added automatically. You can add numbers, too.',
    signature: 'Signature',
    source: 'Source',
    phone: 'STOP received',
    operator: 'Added manually',
    added: 'Added',
    country: 'Country',
    elsewhere: 'unknown calling code',
    numbers: 'Numbers',
    hint: 'One per line, with the country code.',
    every: 'Every signature',
    removeThis: 'Remove {number} from the list',
    removed: '{number} is no longer on the list.',
    removeWhat: 'Messages from {signature} reach this number again. Only do this if its owner has asked for it.',
  },
  {
    title: 'Désinscriptions',
    lead: 'Les numéros qui ne veulent plus de messages d’une signature. Les messages vers eux sont refusés et ne coûtent rien.',
    add: 'Ajouter des numéros',
    empty: 'Personne ne s’est désinscrit',
    emptyHow: 'Les personnes qui répondent STOP sont ajoutées automatiquement. Vous pouvez aussi ajouter des numéros.',
    signature: 'Signature',
    source: 'Par',
    phone: 'STOP reçu',
    operator: 'Ajout manuel',
    added: 'Ajouté',
    country: 'Pays',
    elsewhere: 'indicatif inconnu',
    numbers: 'Numéros',
    hint: 'Un par ligne, avec l’indicatif du pays.',
    every: 'Toutes les signatures',
    removeThis: 'Retirer {number} de la liste',
    removed: '{number} n’est plus sur la liste.',
    removeWhat:
      'Les messages de {signature} parviennent de nouveau à ce numéro. Ne le faites qu’à la demande de son titulaire.',
  },
);

/** The suppression list of an account. */
export function OptOuts() {
  const query = { number: cleanNumber(queryValue('number')), signature: filterOf('signature') };
  const list = useList(
    (options) => manage().account.optOuts(query, options),
    [query],
    ({ id }) => id,
    15_000,
  );
  const adding = useSignal(false);
  const removed = useSignal<OptOut | undefined>(undefined);
  const names = useSignatureNames();
  const writes = can('optouts.write');
  const add = writes && (
    <Button
      kind="main"
      onClick={() => {
        adding.value = true;
      }}
    >
      {t('add')}
    </Button>
  );
  return (
    <Screen title={t('title')} lead={t('lead')} actions={add}>
      <Filters>
        <SearchField label={word('number')} value={queryValue('number')} onInput={(number) => setQuery({ number })} />
        <SelectField
          label={t('signature')}
          value={queryValue('signature')}
          options={[['', t('every')], ...names.map((name) => [name, name] as const)]}
          onInput={(signature) => setQuery({ signature })}
        />
      </Filters>
      <BadNumber typed={queryValue('number')} />
      <ListTable
        list={list}
        caption={t('title')}
        identity={({ id }) => id}
        filters={['number', 'signature']}
        empty={<Empty title={t('empty')}>{t('emptyHow')}</Empty>}
        columns={[
          { title: word('number'), cell: ({ number }) => <span class="figure strong">{shownNumber(number)}</span> },
          { title: t('country'), cell: Country },
          { title: t('signature'), cell: ({ signature }) => <bdi>{signature}</bdi> },
          { title: t('source'), cell: ({ source }) => t.of(source) },
          { title: t('added'), cell: ({ added_at }) => <Ago at={added_at} /> },
          {
            title: word('actions'),
            quiet: true,
            right: true,
            cell: (entry) =>
              writes && (
                <Button
                  label={t('removeThis', { number: shownNumber(entry.number) })}
                  onClick={() => {
                    removed.value = entry;
                  }}
                >
                  {word('remove')}
                </Button>
              ),
          },
        ]}
      />
      {adding.value && (
        <Add
          names={names}
          onClose={(done) => {
            adding.value = false;
            if (done) void list.reload();
          }}
        />
      )}
      {removed.value && (
        <Confirm
          title={t('removeThis', { number: shownNumber(removed.value.number) })}
          verb={word('remove')}
          said={t('removed', { number: shownNumber(removed.value.number) })}
          change={remove(removed.value)}
          onClose={(done) => {
            removed.value = undefined;
            if (done) void list.reload();
          }}
        >
          <p dir="auto">{t('removeWhat', { signature: removed.value.signature })}</p>
        </Confirm>
      )}
    </Screen>
  );
}

/** Returns the sender names that the account may use. */
function useSignatureNames(): readonly string[] {
  const { data } = useResource((signal) => manage().account.signatures({ limit: 500 }, { signal }).page(), []);
  return (data?.items ?? []).filter(({ status }) => status === 'verified').map(({ name }) => name);
}

function remove({ id }: OptOut) {
  return (): Promise<unknown> => manage().account.removeOptOut(id);
}

function Add({ names, onClose }: { readonly names: readonly string[]; onClose(done: boolean): void }) {
  const form = useForm(
    'add-optouts',
    { signature: '', numbers: '' },
    async ({ signature, numbers }, idempotencyKey) => {
      const order = { signature: signature || (names[0] ?? ''), numbers: numbersOf(numbers, 'all').numbers };
      await manage().account.addOptOuts(order, { idempotencyKey });
      onClose(true);
    },
  );
  const { values, set } = form;
  const { numbers, bad } = numbersOf(values.numbers, 'all');
  return (
    <Dialog title={t('add')} onClose={() => onClose(false)}>
      <Form form={form} submit={t('add')} onCancel={() => onClose(false)}>
        <SelectField
          label={t('signature')}
          value={values.signature || (names[0] ?? '')}
          options={names.map((name) => [name, name])}
          onInput={(signature) => set({ signature })}
        />
        <TextField
          label={t('numbers')}
          required
          rows={6}
          hint={numbers.length === 0 ? t('hint') : <Countries of={numbers} />}
          value={values.numbers}
          onInput={(typed) => set({ numbers: typed })}
        />
        <div aria-live="polite" class="alert-place">
          <BadLinesNote of={[{ bad }]} />
        </div>
      </Form>
    </Dialog>
  );
}

function Country({ number }: OptOut) {
  const { region } = callingCodeOf(number);
  return region === undefined ? '–' : country(region);
}

/** The countries of the numbers, so that the user notices a wrong calling code before it is stored. */
function Countries({ of }: { readonly of: readonly string[] }) {
  const names = countriesOf(of).map(
    ([region, count]) => `${region === undefined ? t('elsewhere') : country(region)} (${formatted(count)})`,
  );
  return <span role="status">{listOf(names)}</span>;
}
