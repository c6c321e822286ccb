import { expect } from '@jest/globals';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagingOptionsError } from '../../../src/common/errors.js';

/**
 * Starts an application with unchecked options, as in JavaScript, and returns the sentence with which it fails;
 * undefined if it starts.
 */
export async function startRefusal(make: (options: never) => DynamicModule, options: unknown): Promise<unknown> {
  class AppModule {}
  try {
    const module = { module: AppModule, imports: [Reflect.apply(make, undefined, [options])] };
    const app = await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
    await app.close();
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(MessagingOptionsError);
    return error instanceof Error ? error.message : error;
  }
}
