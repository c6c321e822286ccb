import { useSignal } from '@preact/signals';
import type { ManagedAccount } from '../../../../client/manage/index.js';
import { Button } from '../../components/button.js';
import { Confirm } from '../../components/dialog.js';
import { Failure, Loading, Note } from '../../components/notes.js';
import { Facts, Figure, Screen, Section } from '../../components/page.js';
import { Ago, Code, Status } from '../../components/shown.js';
import { manage } from '../../core/clients.js';
import { moment, number } from '../../core/format.js';
import { useResource } from '../../core/resource.js';
import { hrefOf } from '../../core/router.js';
import { type Act, act } from '../../core/said.js';
import { can } from '../../core/session.js';
import { Change, Close, Link, Post } from './account-dialogs.js';
import { t } from './account-texts.js';

type Open = 'topup' | 'adjust' | 'change' | 'link' | 'suspend' | 'close';

/** One account, with everything that an operator can do with it. */
export function Account({ id }: { readonly id: string }) {
  const { data, error, reload } = useResource((signal) => manage().operator.account(id, { signal }), [id], 15_000);
  const open = useSignal<Open | undefined>(undefined);
  const posted = useSignal<number | undefined>(undefined);
  const close = (done: boolean): void => {
    open.value = undefined;
    if (done) void reload();
  };
  const opens = (what: Open) => () => {
    posted.value = undefined;
    open.value = what;
  };
  return (
    <Screen
      title={data?.name ?? id}
      back={['#/manage/accounts', t('back')]}
      actions={
        data && (
          <>
            {can('manage.post') && (
              <>
                <Button kind="main" onClick={opens('topup')}>
                  {t('topup')}
                </Button>
                <Button onClick={opens('adjust')}>{t('adjust')}</Button>
              </>
            )}
            {can('manage.write') && (
              <>
                <Button onClick={opens('link')}>{t('link')}</Button>
                <Button onClick={opens('change')}>{t('rename')}</Button>
                {data.state === 'active' && <Button onClick={opens('suspend')}>{t('suspend')}</Button>}
                {data.state === 'suspended' && (
                  <Button onClick={() => void act(resumeOf(data, () => void reload()))}>{t('resume')}</Button>
                )}
                {data.state === 'suspended' && (
                  <Button kind="danger" onClick={opens('close')}>
                    {t('close')}
                  </Button>
                )}
              </>
            )}
          </>
        )
      }
    >
      <Failure error={error} onRetry={() => void reload()} />
      {posted.value !== undefined && <Note tone="good">{t('posted', { n: posted.value })}</Note>}
      {data ? <Content of={data} /> : error === undefined && <Loading />}
      {data && (open.value === 'topup' || open.value === 'adjust') && (
        <Post
          of={data}
          what={open.value}
          onClose={(balance) => {
            posted.value = balance;
            close(balance !== undefined);
          }}
        />
      )}
      {data && open.value === 'change' && <Change of={data} onClose={close} />}
      {data && open.value === 'link' && <Link of={data} onClose={() => close(false)} />}
      {data && open.value === 'suspend' && (
        <Confirm
          title={t('suspendThis', { name: data.name })}
          verb={t('suspend')}
          change={(idempotencyKey) => manage().operator.suspendAccount(id, { idempotencyKey })}
          said={t('suspendDone', { name: data.name })}
          undo={resumeOf(data)}
          onClose={close}
        >
          <p>{t('suspendWhat')}</p>
        </Confirm>
      )}
      {data && open.value === 'close' && <Close of={data} onClose={close} />}
    </Screen>
  );
}

function resumeOf({ id, name }: ManagedAccount, after?: () => void): Act {
  const change = (idempotencyKey: string) => manage().operator.resumeAccount(id, { idempotencyKey });
  return { change, said: t('resumeDone', { name }), after };
}

const LOOK = ['overview', 'messages', 'keys', 'audit'] as const;

function Content({ of: { id, state, balance, low_balance: low, created_at } }: { readonly of: ManagedAccount }) {
  return (
    <>
      <div class="cards">
        <Figure
          name={t('balance')}
          value={number(balance)}
          note={<a href={hrefOf('balance', { account: id })}>{t('entries')}</a>}
        />
        <div class="card">
          <Facts
            of={[
              [t('state'), <Status key="state" of={state} />],
              [t('id'), <Code key="id">{id}</Code>],
              [t('low'), low === null ? t('lowOff') : number(low)],
              [
                t('created'),
                <span key="created" title={moment(created_at)}>
                  <Ago at={created_at} />
                </span>,
              ],
            ]}
          />
        </div>
      </div>
      <Section title={t('open')}>
        <div class="section-actions">
          {LOOK.map((screen) => (
            <a key={screen} class="button" href={hrefOf(screen, { account: id })}>
              {t(screen)}
            </a>
          ))}
        </div>
      </Section>
    </>
  );
}
