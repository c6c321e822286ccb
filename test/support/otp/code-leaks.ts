import { DataSource, type DataSourceOptions } from 'typeorm';

/** The sandbox's phones may show codes. Everywhere else a code is a leak. */
const PHONES: readonly string[] = ['messaging_phone_message', 'messaging_phone_lost'];

/** The texts in all of our tables except the phones', as the database has them. */
export async function storedTexts(options: DataSourceOptions): Promise<readonly string[]> {
  const dataSource = await new DataSource(options).initialize();
  try {
    const texts: string[] = [];
    for (const table of await tablesOf(dataSource)) {
      const rows: readonly object[] = await dataSource.query(`SELECT * FROM ${table}`);
      texts.push(...rows.flatMap((row) => Object.values(row).filter((value) => typeof value === 'string')));
    }
    return texts;
  } finally {
    await dataSource.destroy();
  }
}

async function tablesOf(dataSource: DataSource): Promise<readonly string[]> {
  const sql =
    dataSource.options.type === 'postgres'
      ? 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()'
      : "SELECT name FROM sqlite_master WHERE type = 'table'";
  const rows: readonly { readonly name: string }[] = await dataSource.query(sql);
  return rows.map(({ name }) => name).filter((name) => name.startsWith('messaging_') && !PHONES.includes(name));
}

/** The codes that occur in the texts: separately, not as digits of a longer number or an id. */
export function leaksOf(codes: Iterable<string>, texts: readonly string[]): readonly string[] {
  const found = new Set(texts.flatMap((text) => text.match(/(?<![\w-])\d{4}(?![\w-])/g) ?? []));
  return [...codes].filter((code) => found.has(code));
}
