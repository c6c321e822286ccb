import { useSignal } from '@preact/signals';
import type { ManagedAccount } from '../../../../client/manage/index.js';
import { Button } from '../../components/button.js';
import { Dialog, Form } from '../../components/dialog.js';
import { SearchField, SelectField, TextField } from '../../components/field.js';
import { Empty } from '../../components/notes.js';
import { Filters, Screen } from '../../components/page.js';
import { Ago, Code, Status, Units } from '../../components/shown.js';
import { ListTable } from '../../components/table.js';
import { manage } from '../../core/clients.js';
import { useForm } from '../../core/form.js';
import { useList } from '../../core/resource.js';
import { choiceOf, filterOf, go, hrefOf, setQuery } from '../../core/router.js';
import { can } from '../../core/session.js';
import { stateName, word } from '../../core/words.js';
import { Account } from './account.js';
import { t } from './account-texts.js';

const STATES = ['active', 'suspended', 'closed'] as const;

/** The list of accounts, or one account if the address names it. */
export function Accounts({ rest }: { readonly rest: string }) {
  return rest === '' ? <AccountList /> : <Account key={rest} id={rest} />;
}

function AccountList() {
  const query = { query: filterOf('query'), state: choiceOf('state', STATES) };
  const list = useList(
    (options) => manage().operator.accounts(query, options),
    [query],
    ({ id }) => id,
    15_000,
  );
  const making = useSignal(false);
  const make = can('manage.write') && (
    <Button
      kind="main"
      onClick={() => {
        making.value = true;
      }}
    >
      {t('make')}
    </Button>
  );
  return (
    <Screen title={t('title')} lead={t('lead')} actions={make}>
      <Filters>
        <SearchField label={t('find')} value={query.query ?? ''} onInput={(text) => setQuery({ query: text })} />
        <SelectField
          label={t('state')}
          value={query.state ?? ''}
          options={[['', word('all')], ...STATES.map((each) => [each, stateName(each)] as const)]}
          onInput={(state) => setQuery({ state })}
        />
      </Filters>
      <ListTable
        list={list}
        caption={t('title')}
        identity={({ id }) => id}
        filters={['query', 'state']}
        empty={
          <Empty title={t('empty')} action={make}>
            {t('emptyHow')}
          </Empty>
        }
        columns={[
          {
            title: word('name'),
            cell: ({ id, name }) => (
              <a class="strong" href={hrefOf(`manage/accounts/${encodeURIComponent(id)}`)}>
                <bdi>{name}</bdi>
              </a>
            ),
          },
          { title: t('id'), cell: ({ id }) => <Code>{id}</Code> },
          { title: t('state'), cell: ({ state }) => <Status of={state} /> },
          { title: t('balance'), right: true, cell: Balance },
          { title: t('made'), cell: ({ created_at }) => <Ago at={created_at} /> },
        ]}
      />
      {making.value && (
        <Make
          onClose={() => {
            making.value = false;
          }}
        />
      )}
    </Screen>
  );
}

function Balance({ balance, low_balance: low }: ManagedAccount) {
  return (
    <span class={low !== null && balance < low ? 'short' : undefined}>
      <Units of={balance} />
    </span>
  );
}

function Make({ onClose }: { onClose(): void }) {
  const form = useForm('new-account', { name: '', id: '' }, async ({ name, id }, idempotencyKey) => {
    const made = await manage().operator.createAccount({ name, id: id || undefined }, { idempotencyKey });
    onClose();
    go(`manage/accounts/${encodeURIComponent(made.id)}`);
  });
  const { values, set } = form;
  return (
    <Dialog title={t('make')} onClose={onClose}>
      <Form form={form} submit={t('make')} onCancel={onClose}>
        <TextField label={word('name')} required autofocus value={values.name} onInput={(name) => set({ name })} />
        <TextField label={t('id')} hint={t('idHint')} value={values.id} onInput={(id) => set({ id: id.trim() })} />
      </Form>
    </Dialog>
  );
}
