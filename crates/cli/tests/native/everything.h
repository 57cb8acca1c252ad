/* The parts of the program of `everything.cc` that are in `everything.c`. */
#ifdef __cplusplus
extern "C" {
#endif
long cancels(void);
long crowd(void);
long locks(void);
long reuse(void);
long kinds(void);
long c11(void);
#ifdef __cplusplus
}
#endif
