// Three entry points of the Swift runtime, from its list of them (docs/Runtime.md in the repository
// of the language). The compiler calls them for `unowned` references and for loading weak ones; the
// language has no words for "keep the memory, and tell me whether the object is still alive".

#ifndef OBJECT_LIVENESS_H
#define OBJECT_LIVENESS_H

// Keeps an object's memory from being used again after the object has gone.
void *swift_unownedRetain(void *object);

// Takes that back.
void swift_unownedRelease(void *object);

// Retains an object that is alive; null for one that has begun to go. Atomic.
void *swift_tryRetain(void *object);

#endif
