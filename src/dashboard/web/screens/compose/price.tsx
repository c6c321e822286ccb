import { Failure } from '../../components/notes.js';
import { Table } from '../../components/table.js';
import { country, number } from '../../core/format.js';
import { shownNumber } from '../shared/number.js';
import { t } from './compose-texts.js';
import type { CountryPrice, Price as PriceOf } from './quote.js';

/** The price of a message, in total and by country. */
export function Price({ of, error }: { readonly of: PriceOf | undefined; readonly error?: unknown }) {
  if (of === undefined) return error === undefined ? <p class="soft">{t('noPrice')}</p> : <Failure error={error} />;
  return (
    <div class="price">
      <p class="figure-value">{t(of.isExact ? 'exactly' : 'about', { n: of.units })}</p>
      <p class="hint">{of.longest ? longestOf(of.longest) : t('each', { n: of.segments })}</p>
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
      {of.isExact && of.distribution && (
        <Table
          caption={t('segments')}
          rows={of.distribution}
          identity={({ segments }) => String(segments)}
          columns={[
            { title: t('segments'), cell: ({ segments }) => t('segmentsOf', { n: segments }) },
            { title: t('recipients'), right: true, cell: ({ recipients }) => number(recipients) },
            { title: t('price'), right: true, cell: ({ units }) => number(units) },
          ]}
        />
      )}
    </div>
  );
}

function longestOf({ number: to, characters, segments }: NonNullable<PriceOf['longest']>): string {
  return t('longest', { n: segments, characters, to: shownNumber(to) });
}

function Country({ code, region }: CountryPrice) {
  return (
    <span>
      {region === undefined ? '' : country(region)} <span class="soft">+{code}</span>
    </span>
  );
}
