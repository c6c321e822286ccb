import { Empty } from '../../components/notes.js';
import { Screen } from '../../components/page.js';
import { Ago, Units } from '../../components/shown.js';
import { ListTable } from '../../components/table.js';
import { messaging } from '../../core/clients.js';
import { number } from '../../core/format.js';
import { LIVE, useList } from '../../core/resource.js';
import { hrefOf } from '../../core/router.js';
import { can } from '../../core/session.js';
import { word } from '../../core/words.js';
import { Campaign } from './campaign.js';
import { CampaignForm } from './campaign-form.js';
import { CampaignProgress, CampaignStatus } from './campaign-parts.js';
import { t } from './campaign-texts.js';

/** The campaigns of an account, one of them, or the form for a new one. */
export function Campaigns({ rest }: { readonly rest: string }) {
  if (rest === 'new' && can('campaigns.write')) return <CampaignForm />;
  return rest === '' ? <CampaignList /> : <Campaign key={rest} id={rest} />;
}

function CampaignList() {
  const list = useList(
    (options) => messaging().campaigns.list({}, options),
    [],
    ({ id }) => id,
    LIVE,
  );
  const make = can('campaigns.write') && (
    <a class="button main" href={hrefOf('campaigns/new')}>
      {t('make')}
    </a>
  );
  return (
    <Screen title={t('title')} lead={t('lead')} actions={make}>
      <ListTable
        list={list}
        caption={t('title')}
        identity={({ id }) => id}
        empty={
          <Empty title={t('none')} action={make}>
            {t('noneHow')}
          </Empty>
        }
        columns={[
          {
            title: t('name'),
            cell: ({ id, name }) => (
              <a href={hrefOf(`campaigns/${encodeURIComponent(id)}`)}>
                <bdi>{name}</bdi>
              </a>
            ),
          },
          { title: word('status'), cell: ({ status }) => <CampaignStatus of={status} /> },
          { title: t('progress'), cell: (campaign) => <CampaignProgress of={campaign} /> },
          { title: t('delivered'), right: true, cell: ({ counts }) => number(counts.delivered) },
          { title: word('units'), right: true, cell: (each) => <Units of={each.units - each.refunded_units} /> },
          { title: t('made'), cell: ({ created_at }) => <Ago at={created_at} /> },
        ]}
      />
    </Screen>
  );
}
