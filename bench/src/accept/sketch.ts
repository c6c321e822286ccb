import { createHash, randomUUID } from 'node:crypto';
import {
  Body,
  type CanActivate,
  Controller,
  type DynamicModule,
  type ExecutionContext,
  HttpCode,
  Injectable,
  Module,
  Post,
  UseGuards,
  ValidationPipe,
} from '@nestjs/common';
import Database from 'better-sqlite3';
import { Pool } from 'pg';
import { BareSend, echo } from './bare.js';

/** A guard that hashes a header, as ours does. */
@Injectable()
class SketchGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string> }>();
    return (
      createHash('sha256')
        .update(headers['x-api-key'] ?? '')
        .digest('hex').length === 64
    );
  }
}

interface Item {
  readonly id: string;
  readonly body: BareSend;
  readonly done: () => void;
}

/** Writes the rows of sends without our code. All sends that wait at a tick share one commit. */
abstract class SketchWriter {
  private waiting: Item[] = [];
  private busy = false;

  accept(body: BareSend): Promise<void> {
    return new Promise((done) => {
      this.waiting.push({ id: randomUUID(), body, done });
      this.schedule();
    });
  }

  protected abstract write(items: readonly Item[]): void | Promise<void>;

  private schedule(): void {
    if (this.busy || this.waiting.length === 0) return;
    this.busy = true;
    setImmediate(async () => {
      const items = this.waiting;
      this.waiting = [];
      await this.write(items);
      for (const { done } of items) done();
      this.busy = false;
      this.schedule();
    });
  }
}

const TABLES = [
  'CREATE TABLE IF NOT EXISTS sketch_account (id text PRIMARY KEY, balance bigint)',
  'CREATE TABLE IF NOT EXISTS sketch_message (id text PRIMARY KEY, sender text, body text, units bigint)',
  'CREATE TABLE IF NOT EXISTS sketch_recipient (message text, position bigint, number text, state text, PRIMARY KEY (message, position))',
  'CREATE TABLE IF NOT EXISTS sketch_ledger (id text PRIMARY KEY, units bigint)',
];

class SqliteSketch extends SketchWriter {
  private readonly db: Database.Database;
  private readonly statements: readonly Database.Statement[];

  constructor(file: string) {
    super();
    this.db = new Database(file);
    this.db.pragma('journal_mode = WAL');
    this.db.pragma('synchronous = FULL');
    for (const sql of TABLES) this.db.exec(sql);
    this.db.exec("INSERT OR IGNORE INTO sketch_account VALUES ('a', 1000000000000)");
    this.statements = [
      'BEGIN IMMEDIATE',
      "UPDATE sketch_account SET balance = balance - ? WHERE id = 'a' AND balance >= ?",
      'INSERT INTO sketch_message VALUES (?, ?, ?, ?)',
      "INSERT INTO sketch_recipient VALUES (?, ?, ?, 'queued')",
      'INSERT INTO sketch_ledger VALUES (?, ?)',
      'COMMIT',
    ].map((sql) => this.db.prepare(sql));
  }

  protected override write(items: readonly Item[]): void {
    const [begin, debit, message, recipient, ledger, commit] = this.statements;
    begin?.run();
    debit?.run(items.length, items.length);
    for (const { id, body } of items) {
      message?.run(id, body.signature, body.content, body.number.length);
      for (const [position, number] of body.number.entries()) recipient?.run(id, position, number);
      ledger?.run(id, -body.number.length);
    }
    commit?.run();
  }
}

class PostgresSketch extends SketchWriter {
  private readonly pool: Pool;
  private readonly ready: Promise<unknown>;

  constructor(url: string) {
    super();
    this.pool = new Pool({ connectionString: url, max: 1 });
    const account = "INSERT INTO sketch_account VALUES ('a', 1000000000000) ON CONFLICT DO NOTHING";
    this.ready = this.pool.query([...TABLES, account].join('; '));
  }

  protected override async write(items: readonly Item[]): Promise<void> {
    await this.ready;
    const ids = items.map(({ id }) => id);
    await this.pool.query({
      name: 'sketch',
      text: `WITH item AS (SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS t(id, sender, body, number)),
        d AS (UPDATE sketch_account SET balance = balance - $5 WHERE id = 'a'),
        m AS (INSERT INTO sketch_message SELECT id, sender, body, 1 FROM item),
        r AS (INSERT INTO sketch_recipient SELECT id, 0, number, 'queued' FROM item)
        INSERT INTO sketch_ledger SELECT id, -1 FROM item`,
      values: [
        ids,
        items.map(({ body }) => body.signature),
        items.map(({ body }) => body.content),
        items.map(({ body }) => body.number[0]),
        items.length,
      ],
    });
  }
}

@Controller('api/v1')
@UseGuards(SketchGuard)
class SketchController {
  constructor(private readonly writer: SketchWriter) {}

  @Post('send/sms')
  @HttpCode(200)
  async send(@Body(new ValidationPipe({ transform: true, whitelist: true })) body: BareSend): Promise<object> {
    await this.writer.accept(body);
    return echo(body);
  }
}

/** A server without our code, for comparison: a guard, validation, and the same writes in one commit for each tick. */
@Module({})
export class SketchModule {
  static on(url: string): DynamicModule {
    const writer = url.startsWith('sqlite:') ? new SqliteSketch(url.slice('sqlite:'.length)) : new PostgresSketch(url);
    return {
      module: SketchModule,
      controllers: [SketchController],
      providers: [{ provide: SketchWriter, useValue: writer }],
    };
  }
}
