import { Failure } from '../../components/notes.js';
import { Table } from '../../components/table.js';
import { country, number } from '../../core/format.js';
import { t } from './compose-texts.js';
import type { CountryPrice, Price as PriceOf } from './quote.js';

/** The price of a message, in total and by country. */
export function Price({ of, error }: { readonly of: PriceOf | undefined; readonly error?: unknown }) {
  if (of === undefined) return error === undefined ? <p class="soft">{t('noPrice')}</p> : <Failure error={error} />;
  return (
    <div class="price">
      <p class="figure-value">{t(of.isExact ? 'exactly' : 'about', { n: of.units })}</p>
      <p class="hint">{t('each', { n: of.segments })}</p>
      <Failure error={error} />
      <Table
        caption={t('price')}
        rows={of.countries}
        identity={({ code }) => code}
        columns={[
          { title: t('country'), cell: Country },
          { title: t('recipients'), right: true, cell: ({ recipients }) => number(recipients) },
          { title: t('price'), right: true, cell: ({ units }) => number(units) },
        ]}
      />
    </div>
  );
}

function Country({ code, region }: CountryPrice) {
  return (
    <span>
      {region === undefined ? '' : country(region)} <span class="soft">+{code}</span>
    </span>
  );
}
