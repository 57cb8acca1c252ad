/* Two-phase commit: a transaction manager, N participants, messages that nobody takes out. The state is the one of
   crates/search/benches/models/two_phase.rs: two bits a participant, who sent `prepared`, whom the manager knows, the decision. */
#ifndef N
#define N 3
#endif

#define WORKING 0
#define PREPARED 1
#define COMMITTED 2
#define ABORTED 3

byte rm[N];
bit known[N];
bit sent[N];
byte decision; /* 0 none, 1 commit, 2 abort */

/* What may happen with one participant; a guarded choice has no loop over them. */
#define STEP(i) \
  :: d_step { decision == 0 && sent[i] == 1 -> known[i] = 1 } \
  :: d_step { rm[i] == WORKING -> rm[i] = PREPARED; sent[i] = 1 } \
  :: d_step { rm[i] == WORKING -> rm[i] = ABORTED } \
  :: d_step { decision == 1 -> rm[i] = COMMITTED } \
  :: d_step { decision == 2 -> rm[i] = ABORTED }

#if N == 3
#define ALL (known[0] && known[1] && known[2])
#elif N == 4
#define ALL (known[0] && known[1] && known[2] && known[3])
#elif N == 5
#define ALL (known[0] && known[1] && known[2] && known[3] && known[4])
#elif N == 6
#define ALL (known[0] && known[1] && known[2] && known[3] && known[4] && known[5])
#elif N == 7
#define ALL (known[0] && known[1] && known[2] && known[3] && known[4] && known[5] && known[6])
#else
#define ALL (known[0] && known[1] && known[2] && known[3] && known[4] && known[5] && known[6] && known[7])
#endif

active proctype all() {
end:
  do
  :: d_step { decision == 0 && ALL -> decision = 1 }
  :: d_step { decision == 0 -> decision = 2 }
  STEP(0)
  STEP(1)
  STEP(2)
#if N > 3
  STEP(3)
#endif
#if N > 4
  STEP(4)
#endif
#if N > 5
  STEP(5)
#endif
#if N > 6
  STEP(6)
#endif
#if N > 7
  STEP(7)
#endif
  od
}
