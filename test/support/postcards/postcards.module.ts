import { type DynamicModule, Module } from '@nestjs/common';
import { OptionPlace, readOptions } from '../../../src/common/options.js';
import { capabilityModule } from '../../../src/core/capability.js';
import { checkOptions, SHARED_CORE_OPTIONS } from '../../../src/core/check-options.js';
import { ConfiguredModule } from '../../../src/core/configured-module.js';
import type { SharedCore } from '../../../src/core/core-options.js';
import { MountPoint } from '../../../src/core/mount-point.js';
import { providePurge } from '../../../src/outbox/purger.js';
import { PostcardStore, postcardTables } from './postcard-store.js';
import {
  POSTCARD_OPTIONS,
  PostcardChannel,
  type PostcardOptions,
  PostcardService,
  PostcardSettings,
  postcardPurge,
} from './postcards.js';
import { postcardsOpenapi } from './postcards.openapi.js';

/** A fourth capability, made only of what a capability can bring. */
@Module({})
export class PostcardsModule extends ConfiguredModule {
  static forRoot(options: SharedCore & PostcardOptions): DynamicModule {
    const own = checkOptions(options, SHARED_CORE_OPTIONS, POSTCARD_OPTIONS);
    return capabilityModule(PostcardsModule, MountPoint.of(own.core), {
      imports: [own.core],
      stores: [PostcardStore],
      tables: [postcardTables()],
      controllers: [postcardsOpenapi],
      providers: [
        { provide: PostcardSettings, useValue: readOptions(POSTCARD_OPTIONS, own, new OptionPlace('postcards')) },
        PostcardService,
        PostcardChannel,
        providePurge(PostcardStore, postcardPurge),
      ],
      exports: [PostcardService],
    });
  }
}
