import assert from 'node:assert/strict';
import { HOST } from '../../../../src/accounts/audit/audit-entry.js';
import { MAX_LOGIN_HOOKS } from '../../../../src/hooks/login-hook.js';
import { LoginHookStore } from '../../../../src/hooks/login-hook-store.js';
import { MAX_TEMPLATES } from '../../../../src/sms/templates/template.api.js';
import { TemplateStore } from '../../../../src/sms/templates/template-store.js';
import { ACCOUNT, range } from '../fixtures.js';
import { aHook, answering } from '../hooks/login-hooks.js';
import { refusedWith, template } from '../sms/templates.js';
import type { Race } from './race.js';

/** Races for the last places of lists that have a limit. */
export const FREE_PLACE_RACES: Readonly<Record<string, Race>> = {
  'templates made at once: only the last free places are taken': async (world, hand) => {
    await world.fund(0);
    for (const index of range(MAX_TEMPLATES - 2))
      await hand(0)
        .store(TemplateStore)
        .create(template(`t${index}`), HOST);
    const made = await Promise.allSettled(
      range(6).map((index) =>
        hand(index)
          .store(TemplateStore)
          .create(template(`last${index}`), HOST),
      ),
    );
    assert.equal(made.filter(({ status }) => status === 'fulfilled').length, 2);
    for (const each of made) {
      if (each.status === 'rejected') assert.ok(refusedWith('error.too_many_templates')(each.reason));
    }
  },

  'log-in hooks made at once: an account gets at most 20': async (world, hand) => {
    await world.fund(0);
    const made = await Promise.allSettled(
      range(MAX_LOGIN_HOOKS + 5).map((index) => hand(index).store(LoginHookStore).create(aHook(index), answering())),
    );
    assert.equal(made.filter(({ status }) => status === 'fulfilled').length, MAX_LOGIN_HOOKS);
    assert.equal((await world.storage.store(LoginHookStore).list(ACCOUNT)).length, MAX_LOGIN_HOOKS);
  },
};
