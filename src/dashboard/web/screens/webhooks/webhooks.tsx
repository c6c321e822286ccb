import { useSignal } from '@preact/signals';
import type { Webhook, WebhookWithSecret } from '../../../../client/index.js';
import { Button } from '../../components/button.js';
import { Empty } from '../../components/notes.js';
import { Screen } from '../../components/page.js';
import { Ago } from '../../components/shown.js';
import { ListTable } from '../../components/table.js';
import { messaging } from '../../core/clients.js';
import { useList } from '../../core/resource.js';
import { hrefOf } from '../../core/router.js';
import { can } from '../../core/session.js';
import { word } from '../../core/words.js';
import { Endpoint } from './endpoint.js';
import { EndpointForm } from './endpoint-form.js';
import { EndpointStatus, SecretDialog, Tabs, TypesOf } from './endpoint-parts.js';
import { LiveEvents } from './live-events.js';
import { t } from './webhook-texts.js';
import './webhooks.css';

/** The list of endpoints, one endpoint, or the live events. The address decides which. */
export function Webhooks({ rest }: { readonly rest: string }) {
  if (rest === 'live') return <LiveEvents />;
  return rest === '' ? <Endpoints /> : <Endpoint key={rest} id={rest} />;
}

function Endpoints() {
  const list = useList(
    (options) => messaging().webhooks.list({}, options),
    [],
    ({ id }) => id,
    10_000,
  );
  const asking = useSignal(false);
  const made = useSignal<WebhookWithSecret | undefined>(undefined);
  const make = can('webhooks.create') && (
    <Button
      kind="main"
      onClick={() => {
        asking.value = true;
      }}
    >
      {t('make')}
    </Button>
  );
  return (
    <Screen title={t('title')} lead={t('lead')} actions={make}>
      <Tabs current="endpoints" />
      <ListTable
        list={list}
        caption={t('endpoints')}
        identity={({ id }) => id}
        empty={
          <Empty title={t('none')} action={make}>
            {t('noneHow')}
          </Empty>
        }
        columns={[
          { title: t('url'), cell: Url },
          { title: word('status'), cell: (endpoint) => <EndpointStatus of={endpoint} /> },
          { title: t('types'), cell: ({ types }) => <TypesOf of={types} /> },
          { title: t('order'), cell: ({ ordering }) => t.of(`${ordering}_order`) },
          { title: t('since'), cell: ({ created_at }) => <Ago at={created_at} /> },
        ]}
      />
      {asking.value && (
        <EndpointForm
          onClose={() => {
            asking.value = false;
          }}
          onDone={(endpoint) => {
            asking.value = false;
            made.value = endpoint;
            void list.reload();
          }}
        />
      )}
      {made.value && (
        <SecretDialog
          title={t('made')}
          of={made.value}
          onClose={() => {
            made.value = undefined;
          }}
        />
      )}
    </Screen>
  );
}

function Url({ id, url, description }: Webhook) {
  return (
    <div>
      <a class="url" href={hrefOf(`webhooks/${encodeURIComponent(id)}`)} dir="auto">
        {url}
      </a>
      {description && (
        <div class="soft" dir="auto">
          {description}
        </div>
      )}
    </div>
  );
}
